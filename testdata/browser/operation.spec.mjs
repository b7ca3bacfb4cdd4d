// Home, Logs and Performance as an operator walks them: what runs, what failed and why, who holds whom up.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { attacks, requests, seed } from './operation.seed.mjs'
import { expectNoAxeViolations, expecting, owner, settled, start, until } from './world.mjs'

let world
before(async () => {
  world = await start({ flags: ['--log-requests', '1h'] })
})
after(() => world?.stop())

// The first test sees the server without any; whichever comes first of the others, run alone or not, has them made.
let filled
const seeded = () => filled ??= seed(world)

const within = { timeout: 30_000 }

test('the first screen says what to do, then what happens', { timeout: 120_000 }, async () => {
  const page = await world.open('/')
  await page.getByText('0 of 4 done').waitFor(within)
  await page.getByText('No requests in the last five minutes').waitFor(within)
  await page.getByText('No errors').waitFor()
  const code = page.getByRole('region', { name: 'JavaScript code' })
  await code.getByText('supabase').first().waitFor(within)
  assert.match(await code.innerText(), /const supabase = createClient\('[^]*\.from\('your_table'\)/)
  const top = async (name) => (await page.getByRole('heading', { name, exact: true }).boundingBox()).y
  assert.ok(await top('Connect an app') < await top('The last five minutes'), 'what a fresh project needs stands below')
  await seeded()
  await page.getByRole('link', { name: '/rest/v1/customers', exact: true }).first().waitFor(within)
  await page.locator('.u-over').nth(1).waitFor(within)
  await page.getByText('1 of 4 done').waitFor(within)
  await page.getByText('2 tables are open to whoever has the anon key.').waitFor(within)
  await page.locator('summary').first().click()
  await page.getByRole('region', { name: 'Requests per second, as a table' }).getByRole('row').nth(1).waitFor()

  // The routes lead to their requests.
  await page.getByRole('link', { name: '/rest/v1/customers', exact: true }).first().click()
  await page.getByRole('heading', { name: 'Logs', level: 1 }).waitFor(within)
  assert.equal(new URL(page.url()).searchParams.get('route'), '/rest/v1/customers')
  await world.close(page)
})

test('the slow statements are asked for once a minute, and not while nobody looks', { timeout: 60_000 }, async () => {
  const page = await world.open('/explore')
  await page.clock.install()
  const asked = { statements: 0, overview: 0 }
  page.on('response', (answer) => {
    const { pathname } = new URL(answer.url())
    if (pathname.endsWith('/performance/statements')) asked.statements++
    if (pathname.endsWith('/overview')) asked.overview++
  })
  // An answer must have come before the clock goes on: else the next question waits for it.
  const pass = async (seconds) => {
    for (let gone = 0; gone < seconds; gone += 10) {
      const before = asked.overview
      await page.clock.runFor(10_000)
      await until('the overview is asked for', () => asked.overview > before)
    }
  }
  await page.getByRole('link', { name: 'Home' }).first().click()
  await page.clock.runFor(1000)
  await until('both are asked for', () => asked.statements === 1 && asked.overview === 1)
  await pass(50)
  assert.equal(asked.statements, 1)
  await pass(20)
  await until('a minute is over', () => asked.statements === 2)
  const look = (state) => page.evaluate((state) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state })
    document.dispatchEvent(new Event('visibilitychange'))
  }, state)
  await look('hidden')
  await page.clock.runFor(300_000)
  assert.equal(asked.statements, 2)
  await look('visible')
  await page.clock.runFor(100)
  await until('somebody looks again', () => asked.statements === 3)
  await world.close(page)
})

test('an app is connected by what is copied here; the service key is asked for once more', { timeout: 90_000 }, async () => {
  const context = await world.window({ permissions: ['clipboard-read', 'clipboard-write'] })
  const page = await world.open('/', { context })
  await page.getByRole('button', { name: 'Copy the anon key' }).click(within)
  await page.getByRole('region', { name: 'JavaScript code' }).getByText('your_table').waitFor({ state: 'detached', ...within })
  const anon = await page.evaluate(() => navigator.clipboard.readText())
  assert.match(anon, /^eyJ|^sb_/)
  for (const [name, part] of [['Dart', 'Supabase.initialize'], ['Swift', 'SupabaseClient('], ['Kotlin', 'createSupabaseClient'], ['Python', 'create_client'], ['curl', "-H 'apikey: "], ['JavaScript', 'createClient(']]) {
    await page.getByRole('tab', { name }).click()
    const code = await page.getByRole('region', { name: `${name} code` }).textContent()
    assert.ok(code.includes(part) && code.includes(world.url) && code.includes(anon), `${name}: ${code}`)
  }
  await world.sql(`update basalt.administrator_sessions set elevated_until = now() - interval '1 second'`)
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Your password', { exact: true }).fill(owner.password, within)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Copy the service key' }).click(within)
  const service = await page.evaluate(() => navigator.clipboard.readText())
  assert.notEqual(service, anon)
  await page.getByRole('button', { name: 'Hide' }).click()
  assert.ok(!(await page.content()).includes(service), 'the key stays in the page')
  await world.close(page)
})

test('a request is found by filters that are in the address, and opened', { timeout: 120_000 }, async () => {
  await seeded()
  const page = await world.open('/logs')
  const table = page.getByRole('region', { name: 'Requests', exact: true })
  await table.getByRole('row').nth(5).waitFor(within)
  assert.ok(!(await page.content()).includes('hidden-value'), 'a value of a query is shown')
  await page.getByLabel('Status').selectOption('errors')
  await page.getByLabel('Method').selectOption('POST')
  await page.waitForFunction(() => [...document.querySelectorAll('tbody .method')].every((cell) => cell.textContent.trim() === 'POST'), null, within)
  await page.getByLabel(/Part of the path/).fill('invalid_credentials')
  await page.waitForURL(/text=invalid_credentials/, within)
  await table.getByRole('link', { name: /auth\/v1\/token/ }).first().click(within)
  const drawer = page.getByRole('dialog', { name: 'Request' })
  await drawer.getByText('invalid_credentials').waitFor(within)
  await expectNoAxeViolations(page)
  await page.reload()
  await drawer.getByText('invalid_credentials').waitFor(within)
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'detached' })
  assert.equal(new URL(page.url()).searchParams.get('status'), 'errors')
  await page.goBack()
  await drawer.waitFor(within)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Clear the filter' }).click()
  await page.waitForURL((url) => !url.searchParams.has('status'), within)

  // The table that --log-requests keeps says the same.
  await page.getByRole('radio', { name: 'Kept for 1 h' }).press('Space', within)
  await page.waitForURL(/kept=1/, within)
  await table.getByRole('row').nth(1).waitFor(within)

  // A time is chosen by dragging over the histogram.
  const plot = page.locator('.u-over')
  await plot.waitFor(within)
  const box = await plot.boundingBox()
  await page.mouse.move(box.x + 5, box.y + 20)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width / 2, box.y + 20, { steps: 5 })
  await page.mouse.up()
  await page.waitForURL(/since=/, within)
  await world.close(page)
})

test('the log is followed live, and paused', { timeout: 90_000 }, async () => {
  const page = await world.open('/logs')
  await page.getByRole('button', { name: 'Live' }).click(within)
  await page.getByRole('button', { name: 'Pause' }).waitFor(within)
  // The tail begins where it is opened: ask until it shows.
  const shown = page.getByRole('link', { name: /live-probe-a/ }).first()
  for (let tries = 0; tries < 60 && !await shown.isVisible(); tries++) {
    await fetch(`${world.url}/rest/v1/live-probe-a`).then((answer) => answer.text())
    await page.waitForTimeout(300)
  }
  assert.ok(await shown.isVisible())
  await page.getByRole('button', { name: 'Pause' }).click()
  await fetch(`${world.url}/rest/v1/live-probe-b`).then((answer) => answer.text())
  await page.getByText(/· 1 wait/).waitFor(within)
  assert.equal(await page.getByRole('link', { name: /live-probe-b/ }).count(), 0)
  await page.getByRole('button', { name: 'Go on' }).click()
  await page.getByRole('link', { name: /live-probe-b/ }).first().waitFor(within)
  await page.getByRole('button', { name: 'Stop' }).click()
  await world.close(page)
})

test('events of accounts and changes by administrators are read', { timeout: 90_000 }, async () => {
  const page = await world.open('/logs?tab=accounts')
  await page.getByRole('combobox', { name: 'Event', exact: true }).selectOption('login')
  await page.getByRole('region', { name: 'Events of accounts' }).getByRole('link', { name: 'login' }).first().click(within)
  await page.getByRole('dialog').getByText('"action"').first().waitFor(within)
  await page.keyboard.press('Escape')
  await page.getByRole('tab', { name: 'Administrators' }).click()
  await page.getByRole('link', { name: 'key.reveal' }).click(within)
  await page.getByRole('dialog').getByText('service_role').first().waitFor(within)
  await page.keyboard.press('Escape')
  await world.close(page)
})

test('findings about statements, indexes and tables come with what to do', { timeout: 120_000 }, async () => {
  await seeded()
  const page = await world.open('/performance')
  const cut = await page.getByRole('link', { name: /slow_report/ }).first().evaluate((link) => link.parentElement.clientWidth - link.clientWidth, null, within)
  assert.ok(cut <= 24, `${cut} px of the column are empty`)
  await page.getByRole('link', { name: /slow_report/ }).first().click(within)
  await page.getByRole('dialog', { name: 'Statement' }).getByText('Rows per run').waitFor(within)
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: /select count\(\*\) from orders where total > \$2/ }).click(within)
  const statement = page.getByRole('dialog', { name: 'Statement' })
  const editor = new URL(await statement.getByRole('link', { name: 'Open it in the SQL editor' }).getAttribute('href'), world.url)
  assert.equal(editor.searchParams.get('sql'), 'select count(*) from orders where total > $2 and customer_id = $1')
  await statement.getByRole('link', { name: 'Indexes of orders' }).click(within)
  await page.getByRole('tab', { name: /Indexes/, selected: true }).waitFor(within)
  await page.goBack()
  await statement.waitFor(within)
  await page.keyboard.press('Escape')
  await statement.waitFor({ state: 'detached' })
  await page.getByRole('tab', { name: 'Indexes' }).click()
  const bare = page.getByRole('table', { name: 'Foreign keys without an index' })
  await bare.getByRole('link', { name: 'orders', exact: true }).waitFor(within)
  await page.getByRole('region', { name: 'Indexes covered by another' }).getByText('customers_city_name').waitFor()
  await page.getByRole('region', { name: 'Unused indexes' }).waitFor()
  await page.getByRole('region', { name: 'Tables read from end to end', exact: true }).waitFor()
  await page.getByRole('link', { name: 'Statements that name orders' }).click()
  await page.waitForURL((url) => url.searchParams.get('text') === 'orders' && !url.searchParams.has('tab'))
  const statements = page.getByRole('table', { name: 'Statements' })
  await statements.getByRole('row', { name: /from orders where total/ }).waitFor(within)
  assert.ok((await statements.locator('.query').allInnerTexts()).every((text) => text.includes('orders')))
  await page.getByLabel('Part of the statement').fill('nothing-like-it')
  await page.getByText('No such statement').waitFor(within)
  await page.goBack()
  const weigh = bare.getByRole('row', { name: /orders/ }).getByRole('button', { name: 'Weigh' })
  if (await weigh.count() > 0) { // where hypopg is
    await weigh.click()
    await bare.getByText(/× cheaper/).waitFor(within)
  } else await page.getByText('hypopg, which this PostgreSQL does not have').waitFor()
  await page.getByRole('tab', { name: 'Tables' }).click()
  await page.getByRole('region', { name: 'Tables', exact: true }).getByRole('link', { name: 'customers' }).waitFor(within)
  await world.close(page)
})

test('names with dots in them are not taken for one another', { timeout: 120_000 }, async () => {
  await world.sql(`
    create schema dot; create schema "dot.ted";
    create table dot."ted.t" (id int); create index "ted.i" on dot."ted.t" (id);
    create table "dot.ted".t (id int); create index i on "dot.ted".t (id);
    create table dot.b (id int); create index "c.d" on dot.b (id);
    create table dot."b.c" (id int); create index d on dot."b.c" (id)`)
  const page = await world.open('/performance?tab=indexes')
  for (const [name, other] of [['d', 'c.d'], ['c.d', 'd'], ['i', 'ted.i'], ['ted.i', 'i']]) {
    await page.getByRole('button', { name: `Drop… ${name}`, exact: true }).click(within)
    await page.getByRole('textbox', { name: `Type ${name} to go on`, exact: true }).waitFor(within)
    assert.equal(await page.getByRole('textbox', { name: `Type ${other} to go on`, exact: true }).count(), 0)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await page.getByRole('tab', { name: 'Tables' }).click()
  await page.getByRole('region', { name: 'Tables', exact: true }).getByRole('link', { name: 'dot.ted.t' }).first().waitFor(within)
  await world.sql(`drop schema dot cascade; drop schema "dot.ted" cascade`)
  await world.close(page)
})

test('a missing index is made and a needless one dropped after its SQL was seen', { timeout: 120_000 }, async () => {
  await world.sql(`
    create table "Odd.parents" (id int primary key);
    create table "Odd kids" (id int primary key, "the ""parent""" int references "Odd.parents" (id));
    create index "Odd idx" on "Odd kids" ((id + 1))`)
  const page = await world.open('/performance?tab=indexes')
  await page.getByRole('button', { name: /^Create the index for Odd kids_the/ }).click(within)
  const drawer = page.getByRole('dialog')
  await drawer.getByText('Odd kids: reads and writes go on').waitFor(within)
  assert.equal((await drawer.getByRole('region', { name: 'Statement 1' }).innerText()).trim().replace(/\s+/g, ' '), 'create index concurrently on public."Odd kids" ("the ""parent""")')
  await expectNoAxeViolations(page)
  await drawer.getByRole('button', { name: 'Create the index' }).click()
  await drawer.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: /^Create the index for Odd kids_the/ }).waitFor({ state: 'detached', ...within })
  assert.equal((await world.sql(`select from pg_indexes where tablename = 'Odd kids' and indexdef like '%("the ""parent""")'`)).rowCount, 1)

  await page.getByRole('button', { name: 'Drop… Odd idx' }).click(within)
  await drawer.getByText('Odd kids: reads and writes wait').waitFor(within)
  await drawer.getByRole('button', { name: 'Do it this way' }).click()
  await drawer.getByText('drop index concurrently public."Odd idx"').waitFor()
  const drop = drawer.getByRole('button', { name: 'Drop the index' })
  assert.equal(await drop.isDisabled(), true)
  await drawer.getByRole('textbox', { name: 'Type Odd idx to go on' }).fill('Odd idx')
  await drop.click()
  await page.getByRole('button', { name: 'Drop… Odd idx' }).waitFor({ state: 'detached', ...within })
  assert.equal((await world.sql(`select from pg_indexes where indexname = 'Odd idx'`)).rowCount, 0)
  await world.close(page)
})

test('indexes are suggested for a slow statement, and made', { timeout: 120_000 }, async () => {
  await world.sql(`create extension if not exists pg_stat_statements`)
  await world.sql(`create extension if not exists hypopg`).catch(() => {}) // not everywhere
  await world.sql(`
    create table "Slow ones" (id int primary key, "of the ""kind""" int not null, size int not null, note text);
    insert into "Slow ones" select i, i % 5000, i % 900, 'x' from generate_series(1, 60000) i;
    analyze "Slow ones"`)
  // Often: PostgreSQL counts so many statements of all databases, and forgets those that ran least.
  for (let i = 0; i < 20; i++) {
    await world.sql('select note as slow_note from "Slow ones" where size > $2 and "of the ""kind""" = $1', [i, 7])
    await world.sql('select max(size) as whole from "Slow ones"')
  }
  const page = await world.open('/performance?text=slow_note')
  await page.getByRole('link', { name: /slow_note/ }).click(within)
  const statement = page.getByRole('dialog', { name: 'Statement' })
  await statement.getByRole('button', { name: 'Suggest indexes' }).click(within)
  const suggested = statement.getByRole('table', { name: 'Suggested indexes' })
  const row = suggested.getByRole('row', { name: /of the "kind", size/ })
  await row.waitFor(within)
  const { rows: [{ weighed }] } = await world.sql(`select exists (select from pg_extension where extname = 'hypopg') as weighed`)
  assert.match(await row.innerText(), weighed ? /[\d,]+ → \d+, [\d.]+ MiB/ : /\d\s*%/)
  assert.equal(await statement.getByText('which this PostgreSQL does not have').count(), weighed ? 0 : 1)
  await expectNoAxeViolations(page)
  await row.getByRole('button', { name: /^Create the index/ }).click()
  const change = page.getByRole('dialog', { name: 'Add an index to Slow ones' })
  await change.getByText('Slow ones: reads and writes go on').waitFor(within)
  assert.equal((await change.getByRole('region', { name: 'Statement 1' }).innerText()).trim().replace(/\s+/g, ' '), 'create index concurrently on public."Slow ones" ("of the ""kind""", size)')
  await change.getByRole('button', { name: 'Create the index' }).click()
  await change.waitFor({ state: 'detached', ...within })
  await statement.getByText('It goes by the indexes that are there.').waitFor(within)
  assert.equal((await world.sql(`select from pg_indexes where tablename = 'Slow ones' and indexdef like '%("of the ""kind""", size)'`)).rowCount, 1)
  await page.keyboard.press('Escape')
  await statement.waitFor({ state: 'detached' })

  await page.getByLabel('Part of the statement').fill('as whole')
  await page.getByRole('link', { name: /as whole/ }).click(within)
  await statement.getByRole('button', { name: 'Suggest indexes' }).click(within)
  await statement.getByText('It needs whole tables').waitFor(within)
  await world.sql(`drop table "Slow ones"`)
  await world.close(page)
})

test('who holds whom up is shown and ended', { timeout: 120_000 }, async () => {
  await seeded()
  const connect = async (application) => {
    const client = new pg.Client({ connectionString: world.databaseURL, application_name: application })
    client.on('error', () => {}) // it is ended on purpose
    await client.connect()
    return client
  }
  const holder = await connect('the holder'), waiter = await connect(attacks[0])
  await holder.query('begin; lock table orders')
  const waits = waiter.query('select * from orders').catch((error) => error)
  const page = await world.open('/performance?tab=activity')
  await page.getByText('holds 1 up').waitFor(within)
  await page.getByText('wants AccessShareLock on orders').waitFor()
  assert.equal(await page.getByText(/sessions are .*idle/).count(), 1)
  await expectNoAxeViolations(page)
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.getByRole('button', { name: 'Cancel the statement' }).click()
  assert.equal((await waits).code, '57014')
  const again = waiter.query('select count(*) from orders').catch((error) => error)
  await page.getByText('holds 1 up').waitFor(within)
  await page.getByRole('button', { name: 'End', exact: true }).first().click()
  await page.getByRole('button', { name: 'End the session' }).click()
  assert.equal((await again).rows?.length, 1)
  await page.getByText('nobody waits for a lock').waitFor(within)
  await waiter.end()
  await page.getByRole('heading', { name: 'Nothing runs' }).waitFor(within)
  assert.equal(await page.getByText(/sessions are .*idle/).count(), 1)
  await world.close(page)

})

test('whatever is shown is text', { timeout: 90_000 }, async () => {
  await seeded()
  await requests(world)
  for (const path of ['/', '/logs?text=%3C', '/logs?tab=accounts', '/logs?tab=audit', '/performance', '/performance?tab=indexes', '/performance?tab=tables', '/performance?tab=activity', `/logs?text=${encodeURIComponent(attacks[0])}&entry=${encodeURIComponent(attacks[1])}&route=${encodeURIComponent(attacks[2])}`]) {
    const page = await world.open(path)
    await settled(page)
    assert.equal(await page.evaluate(() => window.attacked), undefined, path)
    await world.close(page)
  }
})

test('health checks that fail are none of the failed requests', { timeout: 90_000 }, async () => {
  const { rows: [{ name, own }] } = await world.sql('select current_database() as name, pg_backend_pid() as own')
  const beside = new pg.Client({ connectionString: world.databaseURL.replace(new RegExp(`/${name}(?=\\?|$)`), '/template1') })
  await beside.connect()
  const health = async () => (await fetch(`${world.url}/health/ready`)).status
  try {
    await beside.query(`alter database "${name}" allow_connections false`)
    await until('the server is not ready', async () => {
      await beside.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> $2`, [name, own])
      return await health() === 503
    })
  } finally {
    await beside.query(`alter database "${name}" allow_connections true`)
    await beside.end()
  }
  await until('the server is ready', async () => await health() === 200)
  const page = await world.open('/')
  const failed = page.getByRole('link', { name: /^Failed requests/ })
  await failed.waitFor(within)
  await page.getByRole('link', { name: 'health' }).first().waitFor(within)
  assert.match(await failed.innerText(), /^Failed requests\s+(–|0 ?%)/)
  await world.close(page)
})

test('the first screen says so when the server goes away', { timeout: 90_000 }, async () => {
  const page = await world.open('/')
  await page.getByText('all is well').waitFor(within)
  expecting(page, /ERR_FAILED|ERR_INTERNET/)
  await page.route('**/admin/api/**', (route) => route.abort())
  await page.getByText('the server does not answer').waitFor(within)
  await world.close(page)
})
