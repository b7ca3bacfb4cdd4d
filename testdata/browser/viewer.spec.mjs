// What an administrator who only reads meets: every action stays in sight with the one reason why it is refused.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { expectNoAxeViolations, expectNoSidewaysScroll, settled, start } from './world.mjs'

const reason = 'This needs the role editor or owner; yours is viewer.'
let world
before(async () => {
  world = await start()
  await world.sql(`
    create table notes (id bigint generated always as identity primary key, body text not null, owner uuid references auth.users (id));
    alter table notes enable row level security;
    create policy mine on notes to authenticated using (true);
    create index notes_body on notes (body);
    create function twice(n int) returns int language sql immutable as 'select n * 2';
    drop extension if exists pg_stat_statements;
    insert into auth.users (id, aud, role, email) values ('00000000-0000-4000-8000-000000000001', 'authenticated', 'authenticated', 'grace@app.example');
    insert into notes (body, owner) values ('hello', '00000000-0000-4000-8000-000000000001')`)
})
after(() => world?.stop())

async function become(role) {
  await world.sql('update basalt.administrators set role = $1', [role])
}

/** A button that can be reached and does nothing but say why. */
async function refused(button, why = reason) {
  await button.waitFor()
  assert.equal(await button.getAttribute('aria-disabled'), 'true', String(button))
  assert.equal(await button.evaluate((node) => node.disabled), false)
  await button.focus()
  assert.ok(await button.evaluate((node) => node === document.activeElement), 'it has no focus')
  assert.equal(await button.evaluate((node) => document.getElementById(node.getAttribute('aria-describedby'))?.textContent), why)
}

test('every refused action stays, is reached by keyboard and says why in the same words', { timeout: 120_000 }, async () => {
  await become('viewer')
  const page = await world.open('/structure')
  const visit = async (path) => {
    await page.goto(`${world.url}/admin${path}`)
    await settled(page)
  }
  const main = page.getByRole('main')
  for (const [path, names] of [
    ['/structure', ['Create a table', 'Create a schema']],
    ['/structure/public/notes', ['Change', 'Add a column', 'Do with body']],
    ['/structure/functions', ['Create a function']],
    ['/policies/public/notes', ['Turn RLS off', 'More', 'New policy', 'Edit mine', 'Drop mine']],
    ['/policies/public/notes?tab=tester', ['Test']],
    ['/sql', ['Run']],
    ['/users', ['Invite', 'Create user']],
    ['/users/00000000-0000-4000-8000-000000000001', ['Actions', 'Save']],
    ['/tables', ['Create a table']],
    ['/tables/public/notes', ['Insert', 'Import', 'Create a table']],
    ['/performance', ['Create it']],
    ['/performance?tab=indexes', ['Create the index for notes_owner_fkey', 'Drop… notes_body']],
  ]) {
    await visit(path)
    for (const name of names) await refused(main.getByRole('button', { name, exact: true }).first())
    await expectNoAxeViolations(page)
  }
  await visit('/')
  await refused(main.getByRole('button', { name: 'Show', exact: true }), 'This needs the role owner; yours is viewer.')
  await visit('/sql')
  for (const name of ['Explain', 'Save the query']) await main.getByRole('button', { name }).waitFor()
  await refused(main.getByRole('button', { name: 'Explain' }), 'Write a statement first.')
  await refused(main.getByRole('button', { name: 'Save the query' }), 'Write a statement first.')

  // The reason is seen too: by keyboard, and where nothing hovers by pressing.
  await visit('/users')
  await main.getByRole('button', { name: 'Invite' }).click({ force: true })
  await page.locator('.tooltip', { hasText: reason }).waitFor()
  assert.equal(await page.getByRole('dialog').count(), 0)
  await visit('/structure/public/notes')
  await main.getByRole('button', { name: 'Change', exact: true }).press('ArrowDown')
  assert.equal(await page.getByRole('menu').count(), 0)
  await world.close(page)
})

test('screens, commands and a tab that are not for a viewer are shown with the reason', { timeout: 120_000 }, async () => {
  await become('viewer')
  const owners = 'This needs the role owner; yours is viewer.'
  const page = await world.open('/account')
  const rail = page.getByRole('navigation', { name: 'Screens' }).first()
  for (const [name, why] of [['Outbox', reason], ['Administrators', owners], ['Settings', owners]]) {
    const button = rail.getByRole('button', { name, exact: true })
    await refused(button, why)
    await button.click({ force: true })
    await page.locator('.tooltip', { hasText: why }).waitFor()
    assert.equal(new URL(page.url()).pathname, '/admin/account')
  }
  await expectNoAxeViolations(page)

  // The palette finds them, says why, and stays open when they are chosen.
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: 'Go to or do' })
  for (const [typed, name, why] of [['administrators', 'Administrators', owners], ['create a table', 'Create a table', reason]]) {
    await palette.getByRole('combobox').fill(typed)
    const option = palette.getByRole('option', { name: `${name} ${why}` })
    await option.waitFor()
    assert.equal(await option.getAttribute('aria-disabled'), 'true')
    assert.equal(await option.getAttribute('aria-selected'), 'true')
    await page.keyboard.press('Enter')
    await option.click({ force: true })
    assert.ok(await option.isVisible())
  }
  await expectNoAxeViolations(page)
  await page.keyboard.press('Escape')
  assert.equal(new URL(page.url()).pathname, '/admin/account')

  // Keys and addresses lead to the screen's place, where the reason stands.
  await page.keyboard.press('g')
  await page.keyboard.press('a')
  await page.getByText(`${owners} An owner can change what you may.`).waitFor()
  await page.goto(`${world.url}/admin/logs`)
  await settled(page)
  await page.getByRole('tab', { name: 'Requests' }).focus()
  await page.keyboard.press('End')
  assert.equal(await page.getByRole('tab', { name: 'Administrators' }).getAttribute('aria-selected'), 'true')
  await page.getByRole('tabpanel').getByText(`${owners} An owner can change what you may.`).waitFor()
  await expectNoAxeViolations(page)
  await world.close(page)

  const phone = await world.open('/logs?tab=audit', { width: 360 })
  await phone.getByRole('tabpanel').getByText(`${owners} An owner can change what you may.`).waitFor()
  await phone.getByRole('button', { name: 'More screens' }).click()
  const line = phone.getByRole('menuitem', { name: `Administrators ${owners}` })
  assert.equal(await line.getAttribute('aria-disabled'), 'true')
  await line.click({ force: true })
  assert.ok(await line.isVisible())
  await expectNoAxeViolations(phone)
  await expectNoSidewaysScroll(phone)
  await world.close(phone)
})

test("a cell's menu shows a viewer what would change rows, with the reason", { timeout: 60_000 }, async () => {
  await become('viewer')
  const page = await world.open('/tables/public/notes')
  const asked = []
  page.on('request', (request) => { if (request.method() !== 'GET' && request.method() !== 'HEAD') asked.push(request.url()) })
  await page.getByRole('gridcell', { name: 'hello' }).click()
  await page.keyboard.press('Shift+F10')
  const menu = page.getByRole('menu')
  for (const name of ['Edit', 'Set to empty text', 'Duplicate the row', 'New row', 'Delete the row']) {
    const line = menu.getByRole('menuitem', { name: new RegExp(`^${name} ${reason}`) })
    assert.equal(await line.getAttribute('aria-disabled'), 'true', name)
    await line.click({ force: true })
  }
  assert.equal(await menu.locator('.hint:not(.unseen)', { hasText: reason }).count(), 1)
  for (const name of ['Copy', 'Show the whole value', 'Open the row']) assert.equal(await menu.getByRole('menuitem', { name: new RegExp(`^${name}`) }).getAttribute('aria-disabled'), null, name)
  await menu.getByRole('menuitem', { name: /^Edit/ }).focus()
  await page.keyboard.press('Enter')
  await expectNoAxeViolations(page)
  assert.deepEqual(asked, [])
  await world.close(page)

  await become('owner')
  const owners = await world.open('/tables/public/notes')
  await owners.getByRole('gridcell', { name: 'hello' }).click()
  await owners.keyboard.press('Shift+F10')
  assert.equal(await owners.getByRole('menu').locator('[aria-disabled]').count(), 0)
  for (const name of ['Edit', 'Delete the row']) await owners.getByRole('menuitem', { name: new RegExp(`^${name}`) }).waitFor()
  await world.close(owners)
})

test('tables that a viewer may not read are marked, and no request is made for their rows', { timeout: 60_000 }, async () => {
  await become('viewer')
  const page = await world.open('/tables/auth/users')
  const asked = []
  page.on('request', (request) => { if (request.url().includes('/admin/api/rest/')) asked.push(request.url()) })
  await page.reload()
  await settled(page)
  await page.getByRole('heading', { name: 'Not to be read as service_role' }).waitFor()
  await page.getByRole('paragraph').getByText(`The role service_role is not granted to read auth.users. ${reason}`).waitFor()
  await page.getByRole('navigation', { name: 'Tables' }).getByRole('link', { name: /users.*Not readable for service_role/ }).waitFor()
  await refused(page.getByRole('button', { name: 'Export' }), `The role service_role is not granted to read auth.users. ${reason}`)
  assert.deepEqual(asked, [])
  await expectNoAxeViolations(page)
  await page.goto(`${world.url}/admin/tables/public/notes`)
  await page.getByRole('gridcell', { name: 'hello' }).waitFor()
  await world.close(page)

  await become('owner')
  const owners = await world.open('/tables/auth/users?as=anon')
  await owners.getByRole('heading', { name: 'Not to be read as anon' }).waitFor()
  await owners.getByRole('button', { name: 'See as database owner' }).click()
  await owners.getByRole('gridcell', { name: 'grace@app.example' }).waitFor()
  await world.close(owners)
})

test('as whom data are read is not taken for the own role, which the account tells', { timeout: 60_000 }, async () => {
  const page = await world.open('/account')
  await become('owner')
  await page.reload()
  await page.getByRole('button', { name: 'Data are seen as database owner: change' }).getByText('seen as database owner').waitFor()
  await become('viewer')
  await page.reload()
  await page.getByRole('main').getByText('Your role').waitFor()
  await page.getByRole('main').getByText('Changes nothing, and runs no SQL').waitFor()
  await page.getByRole('button', { name: 'Data are seen as service_role: change' }).click()
  assert.equal(await page.getByRole('radio', { name: 'database owner' }).count(), 0)
  await expectNoAxeViolations(page)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menu').getByText('Your role: viewer').waitFor()
  await world.close(page)

  const phone = await world.open('/', { width: 360 })
  await expectNoSidewaysScroll(phone)
  await phone.getByText('Until then mails wait in the outbox. This needs the role owner; yours is viewer.').waitFor()
  assert.equal(await phone.getByRole('link', { name: 'Send mails' }).count(), 0)
  await phone.goto(`${world.url}/admin/outbox`)
  await phone.getByText(`${reason} An owner can change what you may.`).waitFor()
  await world.close(phone)
})

test('the extension that counts statements is opened in the SQL editor, and made at a press', { timeout: 60_000 }, async (t) => {
  await become('owner')
  const { rows: [{ loaded }] } = await world.sql(`select exists (select from pg_settings where name = 'pg_stat_statements.max') as loaded`)
  const page = await world.open('/performance')
  await page.getByRole('heading', { name: 'Statements are not counted yet' }).waitFor()
  await page.getByRole('link', { name: 'Open it in the SQL editor' }).click()
  await page.getByRole('textbox', { name: 'SQL' }).getByText('create extension if not exists pg_stat_statements').waitFor()
  await page.goto(`${world.url}/admin/sql?sql=select%202`) // beside a text that is there already
  await page.getByRole('textbox', { name: 'SQL' }).getByText('select 2').waitFor()
  await page.goto(`${world.url}/admin/performance`)
  if (loaded) {
    await page.getByRole('button', { name: 'Create it' }).click()
    await page.getByText('Statements are counted from now on').waitFor()
    await page.getByRole('heading', { name: 'Statements are not counted yet' }).waitFor({ state: 'detached' })
  } else t.diagnostic('PostgreSQL does not load pg_stat_statements: it was not made')
  await world.close(page)
})
