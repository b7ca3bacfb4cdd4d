// SQL: writing, running, cancelling, explaining, keeping queries, as a person does.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { expectAccessible, expectNoAxeViolations, owner, start, until } from './world.mjs'

const hostile = '<img src=x onerror="document.title=1">'
let world
before(async () => {
  world = await start()
  await world.sql(`
    create table public.planets (id bigint primary key generated always as identity, name text not null, mass numeric);
    insert into public.planets (name, mass) select 'planet ' || n, n * 1.10 from generate_series(1, 3000) n;
    create table public.moons (id bigint primary key, planet_id bigint references public.planets, label text);
    insert into public.moons select n, n % 3000 + 1, 'moon ' || n from generate_series(1, 20000) n;
    create table public."odd ""name"" <svg onload=alert(1)>" (id int);
    analyze`)
})
after(() => world?.stop())

const box = (page) => page.getByRole('textbox', { name: 'SQL' })
const cell = (page, text) => page.getByRole('gridcell', { name: text, exact: true })

/** Puts a text into the editor in place of what is there. */
async function write(page, text) {
  await box(page).click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(text)
}

async function run(page, text, keys = 'Control+Enter') {
  await write(page, text)
  await page.keyboard.press('Escape') // proposals that may be open
  await page.keyboard.press(keys)
}

test('a statement is written with the help of the catalog and run, its values exact', { timeout: 60_000 }, async () => {
  const page = await world.open('/sql')
  await page.getByRole('heading', { name: 'Results appear here' }).waitFor()
  await box(page).click()
  await page.keyboard.type('select na from plan')
  await page.getByRole('option', { name: /planets/ }).first().waitFor()
  await page.keyboard.type('ets')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+Home')
  for (let i = 0; i < 'select na'.length; i++) await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Control+Space')
  await page.getByRole('option', { name: /^name/ }).first().waitFor()
  while (await box(page).innerText() !== 'select name from planets') await page.keyboard.press('Tab') // takes the proposal
  await page.keyboard.press('Control+Enter')
  await cell(page, 'planet 1').waitFor()
  await page.getByText('there are more').waitFor()
  await box(page).click()
  await page.keyboard.press('Control+f')
  await page.keyboard.type('plan')
  await page.locator('.cm-searchMatch').first().waitFor()
  await expectNoAxeViolations(page)
  await page.keyboard.press('Escape')

  await run(page, "select 9007199254740993 as big, 0.10::numeric as exact, null as nothing, '' as blank, 9007199254740993 as big")
  await cell(page, '9007199254740993').first().waitFor()
  await cell(page, '0.10').waitFor()
  await cell(page, 'NULL').waitFor()
  await page.getByRole('columnheader', { name: /big \(2\)/ }).waitFor()
  await world.close(page)
})

test('the statement at the cursor, the selection or all are run, with their times and notices', { timeout: 60_000 }, async () => {
  const page = await world.open('/sql')
  await run(page, "select 1 as one;\n\nselect 2 as two;\n\ndo $$ begin raise notice 'hear ; this'; end $$;")
  await page.getByText('hear ; this', { exact: true }).waitFor() // the cursor is in the last
  await page.getByText('DO', { exact: true }).first().waitFor()
  await page.keyboard.press('Control+Home')
  await page.keyboard.press('Control+Enter')
  await page.getByRole('columnheader', { name: /one/ }).waitFor()
  await page.keyboard.press('Control+Shift+Enter')
  const statements = page.getByRole('list', { name: 'Statements' })
  await statements.getByRole('button').nth(2).waitFor()
  await page.getByRole('columnheader', { name: /two/ }).waitFor()
  await statements.getByRole('button').first().click()
  await page.getByRole('columnheader', { name: /one/ }).waitFor()
  assert.equal(new URL(page.url()).searchParams.get('result'), '1')
  await box(page).click()
  await page.keyboard.press('Control+Home')
  await page.keyboard.press('Shift+End')
  await page.getByRole('button', { name: 'Run selection' }).click()
  await statements.waitFor({ state: 'detached' })
  await world.close(page)
})

test('tabs are kept over a reload, the open one in the address; closing can be undone', { timeout: 60_000 }, async () => {
  const page = await world.open('/sql')
  await write(page, 'select 41')
  await page.getByRole('button', { name: 'New query' }).click()
  await write(page, 'select 42')
  const tabs = page.getByRole('navigation', { name: 'Queries' })
  assert.equal(await tabs.getByRole('link', { name: 'Query 2' }).getAttribute('aria-current'), 'page')
  await page.reload()
  await page.waitForFunction(() => document.querySelector('.host')?.shadowRoot?.textContent.includes('select 42'))
  await page.goBack()
  await page.waitForFunction(() => document.querySelector('.host')?.shadowRoot?.textContent.includes('select 41'))
  await page.getByRole('button', { name: 'Close Query 1' }).click()
  await tabs.getByRole('link', { name: 'Query 1' }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await tabs.getByRole('link', { name: 'Query 1' }).waitFor()
  await page.waitForFunction(() => document.querySelector('.host')?.shadowRoot?.textContent.includes('select 41'))
  await world.close(page)
})

test('a mistake is shown where it is, with its SQLSTATE', { timeout: 60_000 }, async () => {
  const page = await world.open('/sql')
  await run(page, "select '😀';\nselect nam\nfrom planets", 'Control+Shift+Enter')
  const alert = page.getByRole('alert')
  await alert.getByText('column "nam" does not exist').waitFor()
  await alert.getByText('42703').waitFor()
  await alert.getByText(/Perhaps you meant/).waitFor()
  assert.equal(await page.locator('.cm-lintRange-error').innerText(), 'nam')
  await page.getByRole('button', { name: 'Show it in line 2' }).click()
  await expectNoAxeViolations(page)
  await run(page, "select 'never closed")
  await alert.getByText(/never closed/).first().waitFor()
  await page.getByRole('button', { name: 'Show it in line 1' }).waitFor()
  await world.close(page)
})

test('long statements are cancelled on the server, also when the screen is left', { timeout: 60_000 }, async () => {
  const page = await world.open('/sql')
  const running = async () => Number((await world.sql(`select count(*) from pg_stat_activity where query like 'select pg_sleep(3%' and state = 'active' and datname = current_database()`)).rows[0].count)
  const runs = (wanted) => until(`${wanted} are running`, async () => await running() === wanted)
  await run(page, 'select pg_sleep(300)')
  await runs(1)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('alert').getByText('57014').first().waitFor()
  await runs(0)
  await run(page, 'select pg_sleep(301)')
  await runs(1)
  await page.getByRole('link', { name: 'Administrators' }).click()
  await runs(0)
  await world.close(page)
})

test('what destroys asks first, with what it would touch; read-only refuses', { timeout: 60_000 }, async () => {
  const page = await world.open('/sql')
  const question = page.getByRole('dialog', { name: /Run this statement/ })
  await run(page, 'delete from planets')
  await question.getByText(/Every row of planets \(about 3,000 rows\) is deleted/).waitFor()
  await expectNoAxeViolations(page)
  await page.keyboard.press('Escape')
  await question.waitFor({ state: 'detached' })
  assert.equal((await world.sql('select count(*) from planets')).rows[0].count, '3000')
  await run(page, "update planets set name = 'planet one' where id = 1")
  await page.getByText('UPDATE 1').first().waitFor() // without being asked
  await page.getByRole('button', { name: /^Read-only/ }).click()
  await run(page, 'delete from moons')
  await page.getByRole('alert').getByText('25006').waitFor()
  assert.equal((await world.sql('select count(*) from moons')).rows[0].count, '20000')
  await world.close(page)
})

test('a table that a run leaves open to the API is warned of, and no other', { timeout: 60_000 }, async () => {
  const page = await world.open('/sql')
  await run(page, `
    create table guarded (id int); grant select on guarded to anon; alter table guarded enable row level security;
    create table granted_to_none (id int); revoke all on granted_to_none from anon, authenticated;
    create schema hidden; create table hidden.t (id int); grant usage on schema hidden to anon; grant select on hidden.t to anon;
    begin; create table taken_back (id int); grant select on taken_back to anon; rollback;
    create temp table planets (id int);
    create table for_users (id int); revoke all on for_users from anon; grant select on for_users to authenticated;
    create table "Open ""one""" (id int); revoke all on "Open ""one""" from anon, authenticated; grant select, insert on "Open ""one""" to anon`, 'Control+Shift+Enter')
  await page.getByText('public.Open "one" is open to whoever holds the anon key').waitFor()
  await page.getByText('anon may read, insert.').waitFor()
  await page.getByText('public.for_users is open to whoever signs in').waitFor()
  assert.equal(await page.getByText(/is open to/).count(), 2)
  await expectNoAxeViolations(page)
  await page.getByRole('link', { name: 'Policies of for_users' }).click()
  await page.getByRole('heading', { name: 'public.for_users' }).waitFor()
  await world.close(page)
})

test('more rows are loaded, and the result is taken away as CSV and JSON', { timeout: 60_000 }, async () => {
  const page = await world.open('/sql')
  await run(page, 'select id, name, mass from planets order by id')
  await page.getByText('1,000 rows', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Load more' }).click()
  await page.getByText('3,000 rows', { exact: true }).waitFor()
  const take = async (name) => {
    await page.getByRole('button', { name: 'Export' }).click()
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name }).click()])
    const chunks = []
    for await (const chunk of await file.createReadStream()) chunks.push(chunk)
    return Buffer.concat(chunks).toString()
  }
  assert.match(await take('Download CSV'), /^id,name,mass\r\n1,planet[^\r]*\r\n2,planet 2,2\.20\r\n/)
  const rows = await take('Download JSON')
  assert.equal(JSON.parse(rows).length, 3000)
  assert.match(rows, /\{"id": 2, "name": "planet 2", "mass": 2\.20\}/)
  await world.close(page)
})

test('a plan is drawn as a tree, with what was measured and estimates that are wrong', { timeout: 60_000 }, async () => {
  const page = await world.open('/sql')
  await write(page, `with wrong as materialized (select * from moons where id % 2 = 0 and label like '%') select p.name, count(*) from planets p join wrong w on w.planet_id = p.id group by 1`)
  await page.getByRole('button', { name: 'Explain' }).click()
  await page.getByRole('menuitem', { name: /Run and measure/ }).click()
  await page.getByText('Execution').waitFor()
  const plan = page.getByRole('region', { name: 'Plan' })
  await plan.getByText('public.moons').first().waitFor()
  await plan.getByText(/100× more/).first().waitFor() // id % 2 is thought to hold for one in 200
  await plan.locator('summary').first().click()
  await expectNoAxeViolations(page)
  await page.getByRole('radio', { name: 'JSON' }).check()
  await page.getByRole('region', { name: 'Plan as JSON' }).getByText('Node Type').first().waitFor()
  assert.equal(new URL(page.url()).searchParams.get('plan'), 'json')
  await page.getByRole('radio', { name: 'Text' }).check()
  await page.getByRole('region', { name: 'Plan as text' }).getByText(/actual time=/).first().waitFor()

  await write(page, 'delete from moons')
  await page.getByRole('button', { name: 'Explain' }).click()
  await page.getByRole('menuitem', { name: /Run and measure/ }).click()
  await page.getByRole('region', { name: 'Plan as text' }).getByText(/Delete on public\.moons/).waitFor()
  assert.equal((await world.sql('select count(*) from moons')).rows[0].count, '20000')
  await world.close(page)
})

test('queries are found in the history, saved, changed, deleted and brought back', { timeout: 60_000 }, async () => {
  const page = await world.open('/sql')
  await run(page, "select 'a needle of its own'")
  await cell(page, 'a needle of its own').waitFor()
  await page.keyboard.press('Control+s')
  await page.getByLabel('Name').fill(hostile)
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: hostile }).waitFor()
  await page.getByRole('button', { name: 'History' }).click()
  const drawer = page.getByRole('dialog', { name: 'Queries' })
  await drawer.getByRole('searchbox').fill('NEEDLE')
  await drawer.getByRole('button', { name: /a needle of its own/ }).first().waitFor()
  await expectNoAxeViolations(page)
  await drawer.getByRole('tab', { name: /Saved/ }).click()
  await drawer.getByText(hostile).waitFor()
  await drawer.getByRole('button', { name: `Delete ${hostile}` }).click()
  await drawer.getByText(hostile).waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('button', { name: 'Saved queries' }).click()
  await drawer.getByRole('button', { name: new RegExp('onerror') }).first().click()
  await drawer.waitFor({ state: 'detached' })
  await world.close(page)
})

test('a role and a user are run as, and viewers see plans only', { timeout: 60_000 }, async () => {
  const page = await world.open('/sql?as=anon')
  await page.getByRole('button', { name: 'Run as anon' }).waitFor()
  await run(page, 'select current_user')
  await cell(page, 'anon').waitFor()
  await page.getByRole('main').getByText('as anon', { exact: true }).waitFor()
  await world.close(page)

  const mine = await world.window()
  const headers = { 'X-Basalt-Dashboard': '1' }
  await mine.request.post('/admin/api/session/elevate', { data: { password: owner.password }, headers })
  const { link } = await (await mine.request.post('/admin/api/administrators', { data: { email: 'vera@example.com', role: 'viewer' }, headers })).json()
  await mine.close()
  const context = await world.window({ signedIn: false })
  const joined = await context.request.post('/admin/api/join', { data: { token: new URL(link).hash.slice('#token='.length), password: 'battery staple correct horse' }, headers })
  assert.ok(joined.ok(), await joined.text())
  const theirs = await world.open('/sql', { context })
  await write(theirs, 'select * from planets where id = 7')
  assert.equal(await theirs.getByRole('button', { name: 'Run', exact: true }).getAttribute('aria-disabled'), 'true')
  await theirs.keyboard.press('Escape')
  await theirs.getByRole('button', { name: 'Explain' }).click()
  await theirs.getByRole('menuitem', { name: /Show the plan/ }).click()
  await theirs.getByRole('region', { name: 'Plan' }).getByText(/Index Scan/).waitFor()
  await world.close(theirs)
})

test('nothing that is shown is taken for code, however it is named or long', { timeout: 60_000 }, async () => {
  const page = await world.open('/sql')
  await run(page, `select '${hostile}' as "<svg onload=alert(1)>", repeat('x', 100000) as long, 'a\u202eb' as turned, * from "odd ""name"" <svg onload=alert(1)>" right join (select 1) one on true`)
  await page.getByRole('gridcell', { name: hostile }).waitFor()
  await run(page, `do $$ begin raise warning '${hostile}' using hint = '<svg onload=alert(1)>'; end $$`)
  await page.getByText(hostile).first().waitFor()
  await run(page, `do $$ begin raise exception '${hostile}' using detail = '<svg onload=alert(1)>', hint = '${hostile}'; end $$`)
  await page.getByRole('alert').getByText(hostile).first().waitFor()
  await box(page).click()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('select * from odd')
  await page.getByRole('option', { name: /odd "name"/ }).first().waitFor()
  assert.match(await page.title(), /^SQL/)
  await world.close(page)
})

test('axe finds nothing, in both schemes and at all widths', { timeout: 180_000 }, async () => {
  await expectAccessible(world, '/sql')
  await expectAccessible(world, '/sql', { prepare: async (page) => {
    await run(page, 'select * from planets; select 1 as x')
    await page.getByRole('columnheader').nth(1).waitFor()
  } })
})
