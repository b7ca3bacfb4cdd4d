// What happens in the middle of work: PostgreSQL is restarted, the session is ended, the network is cut. Nothing may be
// lost silently, and the screen says what became of it.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer, connect } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { expecting, owner, start, until } from './world.mjs'

let world
let wire

before(async () => {
  world = await start({ managed: true })
  await world.sql(`
    create table parcels (id bigint primary key, label text not null, weight numeric);
    insert into parcels select i, 'Parcel ' || i, i * 1.5 from generate_series(1, 50) i;
    create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(0.001); return new; end $$`)
  wire = await cable(new URL(world.url).port)
  world.url = `http://127.0.0.1:${wire.port}`
})
after(async () => {
  await world?.stop()
  wire?.close()
})

/**
 * A cable to a port that can be cut. `mute()` keeps what the server answers from arriving, and gives what cuts the cable
 * then, once the answer is there; `cut()` ends all connections and lets none be made until `mend()`.
 */
async function cable(port) {
  const pairs = new Set()
  let whole = true
  let held
  const server = createServer((near) => {
    if (!whole) return near.destroy()
    const far = connect(port, '127.0.0.1')
    const pair = [near, far]
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      near.destroy()
      far.destroy()
    }
    for (const side of pair) side.on('error', end).on('close', end)
    near.pipe(far)
    far.on('data', (chunk) => {
      if (held) held(chunk)
      else near.write(chunk)
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: server.address().port,
    /** Waits, once it is called, until the server has answered something that matches; nothing of it arrives. */
    mute(pattern) {
      let text = ''
      return new Promise((resolve) => {
        held = (chunk) => {
          text += chunk
          if (pattern.test(text)) resolve()
        }
      })
    },
    cut() {
      whole = false
      for (const [near, far] of pairs) {
        near.destroy()
        far.destroy()
      }
    },
    mend() {
      whole = true
      held = undefined
    },
    close() { server.close() },
  }
}

/** Asks PostgreSQL by a connection of its own: the server's may be gone. */
async function ask(text, values) {
  const client = new pg.Client({ connectionString: world.databaseURL })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end()
  }
}

/** Ends PostgreSQL as a crash or an operator does; Basalt, whose it is, starts it again. */
async function restart(signal) {
  const pid = () => Number(readFileSync(join(world.data, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
  const old = pid()
  process.kill(old, signal)
  await until('PostgreSQL is there again', async () => pid() !== old && (await ask('select 1')).length === 1)
}

const count = async (condition) => Number((await ask(`select count(*) from parcels where ${condition}`))[0].count)
const working = async (like) => Number((await ask(`select count(*) from pg_stat_activity where state <> 'idle' and query like $1 and pid <> pg_backend_pid()`, [like]))[0].count)

async function open(t, path) {
  const page = await world.open(path)
  page.setDefaultTimeout(30_000)
  expecting(page, /net::ERR|Failed to load resource/) // it is cut on purpose
  t.after(async () => {
    wire.mend()
    await world.close(page)
  })
  return page
}

/** A file of rows from an id on, as the table takes it. */
const file = (from, rows) => ({ name: 'parcels.csv', mimeType: 'text/csv', buffer: Buffer.from(`id,label\n${Array.from({ length: rows }, (_, i) => `${from + i},${'x'.repeat(60)}`).join('\n')}\n`) })

/** Begins an import, and waits until rows of it are being written. */
async function importing(page, given, begun = true) {
  const dialog = page.getByRole('dialog', { name: /Import into/ })
  await dialog.getByLabel('File to import').setInputFiles(given)
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  if (begun) await until('rows are being written', async () => await working('insert into "public"."parcels"%') === 1)
  return dialog
}

async function slowly(work) {
  await ask('create trigger slow before insert on parcels for each row execute function slow()')
  try {
    await work()
  } finally {
    await ask('drop trigger slow on parcels')
  }
}

/** Tries again what has failed, with the same file, until the server has seen that PostgreSQL is there again. */
async function again(dialog) {
  const imported = dialog.getByText('Imported', { exact: true })
  const away = dialog.getByText('The database is not available')
  for (const end = Date.now() + 60_000; !await imported.isVisible();) {
    assert.ok(Date.now() < end, await dialog.innerText())
    await dialog.getByRole('button', { name: 'Back' }).click()
    await dialog.getByRole('button', { name: 'Import', exact: true }).click()
    await imported.or(away).waitFor()
  }
}

for (const [how, signal] of [['restarted', 'SIGINT'], ['killed', 'SIGKILL']]) {
  test(`PostgreSQL is ${how} in the middle of an import`, { timeout: 180_000 }, async (t) => {
    const page = await open(t, '/tables/public/parcels?import=1')
    let dialog
    await slowly(async () => {
      dialog = await importing(page, file(1000, 20_000))
      await restart(signal)
      await dialog.getByText('Nothing was imported').waitFor()
      await dialog.getByText('The connection to the database was lost').waitFor()
      assert.equal(await count('id >= 1000'), 0)
    })
    await again(dialog)
    assert.equal(await count('id >= 1000'), 20_000)
    await ask('delete from parcels where id >= 1000')
  })
}

test('the session is ended in the middle of an import', { timeout: 180_000 }, async (t) => {
  const page = await open(t, '/tables/public/parcels?import=1')
  let dialog
  await slowly(async () => {
    dialog = await importing(page, file(1000, 20_000))
    await ask('delete from basalt.administrator_sessions')
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
    await dialog.getByText('Nothing was imported').waitFor()
    assert.equal(await count('id >= 1000'), 0)
  })
  await signInAgain(page)
  await again(dialog)
  assert.equal(await count('id >= 1000'), 20_000)
  await ask('delete from parcels where id >= 1000')
})

async function signInAgain(page) {
  const ended = page.getByRole('dialog', { name: 'Your session has ended' })
  await ended.waitFor()
  await ended.getByLabel('Password', { exact: true }).fill(owner.password)
  await ended.getByRole('button', { name: 'Sign in', exact: true }).click()
  await ended.waitFor({ state: 'detached' })
}

test('the network is cut in the middle of an import', { timeout: 180_000 }, async (t) => {
  const page = await open(t, '/tables/public/parcels?import=1')
  let dialog
  await slowly(async () => {
    dialog = await importing(page, file(1000, 20_000))
    wire.cut()
    await dialog.getByText('The import was cut off').waitFor()
    await dialog.getByText(/Look at the table before you try again/).waitFor()
    await until('the server has given it up', async () => await working('insert into "public"."parcels"%') === 0)
    wire.mend()
    assert.equal(await count('id >= 1000'), 0)
  })
  await again(dialog)
  assert.equal(await count('id >= 1000'), 20_000)
  await ask('delete from parcels where id >= 1000')
})

test('the network is cut when an import was just completed', { timeout: 180_000 }, async (t) => {
  const page = await open(t, '/tables/public/parcels?import=1')
  const answered = wire.mute(/"kept":true/)
  const dialog = await importing(page, file(1000, 100), false)
  await answered
  wire.cut()
  await dialog.getByText('The import was cut off').waitFor()
  await dialog.getByText(/Look at the table before you try again/).waitFor()
  wire.mend()
  assert.equal(await count('id >= 1000'), 100)
  await ask('delete from parcels where id >= 1000')
})

test('an import is stopped when it was just completed', { timeout: 180_000 }, async (t) => {
  const page = await open(t, '/tables/public/parcels?import=1')
  const answered = wire.mute(/"kept":true/)
  const dialog = await importing(page, file(1000, 100), false)
  await answered
  await dialog.getByRole('button', { name: 'Stop' }).click()
  await dialog.getByText('You stopped the import').waitFor()
  await dialog.getByText(/Look at the table before you try again/).waitFor()
  assert.equal(await dialog.getByText('Nothing was').count(), 0)
  wire.cut()
  wire.mend()
  assert.equal(await count('id >= 1000'), 100)
  await ask('delete from parcels where id >= 1000')
})

test('a proxy gives up on an import that goes on', { timeout: 60_000 }, async (t) => {
  const page = await open(t, '/tables/public/parcels?import=1')
  await page.route('**/admin/api/import/**', (route) => route.fulfill({ status: 504, contentType: 'text/html', body: '<h1>504 Gateway Time-out</h1>' }))
  const dialog = await importing(page, file(1000, 10), false)
  await dialog.getByText('The import was cut off').waitFor()
  await dialog.getByText(/504/).waitFor()
  assert.equal(await dialog.getByText('Nothing was kept').count(), 0)
})

const cell = (row, column) => `[data-row="${row}"][data-column="${column}"]`

/** Changes the label of a row and asks to save it. */
async function edit(page, row, text) {
  await page.click(cell(row, 1))
  await page.keyboard.press('Enter')
  await page.locator('.editor textarea, .editor input').first().fill(text)
  await page.keyboard.press('Enter')
  await page.keyboard.press('Control+Enter')
}

const label = async (id) => (await ask('select label from parcels where id = $1', [id]))[0].label
const saved = (page) => page.getByText('1 row saved', { exact: true }).first().waitFor()

for (const [how, signal] of [['restarted', 'SIGINT'], ['killed', 'SIGKILL']]) {
  test(`PostgreSQL is ${how} while a row is saved`, { timeout: 120_000 }, async (t) => {
    const page = await open(t, '/tables/public/parcels')
    await ask(`create or replace function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(60); return new; end $$`)
    await ask('create trigger slow before update on parcels for each row execute function slow()')
    await edit(page, 0, `mine, ${how}`)
    await until('the row is being written', async () => await working('update "public"."parcels"%') === 1)
    await restart(signal)
    await ask('drop trigger slow on parcels')
    await page.getByText(/The connection to the database was lost/).first().waitFor()
    assert.notEqual(await label(1), `mine, ${how}`)
    await page.locator(cell(0, 1)).getByText(`mine, ${how}`).waitFor() // the draft is there
    // Basalt may need a moment to find its PostgreSQL again.
    await until('the draft is saved', async () => {
      await page.keyboard.press('Control+Enter')
      await page.getByText('1 row saved', { exact: true }).first().waitFor({ timeout: 3000 })
      return true
    })
    assert.equal(await label(1), `mine, ${how}`)
  })
}

test('the session is ended before a row is saved', { timeout: 120_000 }, async (t) => {
  const page = await open(t, '/tables/public/parcels')
  await page.locator(cell(1, 1)).waitFor()
  await ask('delete from basalt.administrator_sessions')
  await edit(page, 1, 'after signing in')
  await signInAgain(page)
  assert.equal(await label(2), 'Parcel 2')
  await page.locator(cell(1, 1)).getByText('after signing in').waitFor()
  await page.click(cell(1, 1))
  await page.keyboard.press('Control+Enter')
  await saved(page)
  assert.equal(await label(2), 'after signing in')
})

test('the network is cut before a row is saved', { timeout: 120_000 }, async (t) => {
  const page = await open(t, '/tables/public/parcels')
  await page.locator(cell(2, 1)).waitFor()
  wire.cut()
  await edit(page, 2, 'over the cable')
  await page.getByText(/not known/).first().waitFor()
  await page.locator(cell(2, 1)).getByText('over the cable').waitFor()
  wire.mend()
  await page.click(cell(2, 1))
  await page.keyboard.press('Control+Enter')
  await saved(page)
  assert.equal(await label(3), 'over the cable')
})

for (const [when, pattern] of [['when a row was just saved', /"undo":/], ['in the middle of the answer to a saved row', /^HTTP\/1\.1 200/]]) {
  test(`the network is cut ${when}`, { timeout: 120_000 }, async (t) => {
    const page = await open(t, '/tables/public/parcels')
    await page.locator(cell(3, 1)).waitFor()
    if (pattern.source.startsWith('^')) {
      // The head of the answer arrives, and half of its body.
      await page.route('**/admin/api/rows/**', async (route) => {
        await route.fetch()
        await route.abort('connectionreset')
      })
      await edit(page, 3, when)
    } else {
      const answered = wire.mute(pattern)
      await edit(page, 3, when)
      await answered
      wire.cut()
    }
    await page.getByText(/not known/).first().waitFor()
    assert.equal(await page.getByText(/Not saved/).count(), 0)
    wire.mend()
    assert.equal(await label(4), when)
  })
}

const box = (page) => page.getByRole('textbox', { name: 'SQL' })

async function run(page, text) {
  await box(page).click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(text)
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+Enter')
}

for (const [how, signal] of [['restarted', 'SIGINT'], ['killed', 'SIGKILL']]) {
  test(`PostgreSQL is ${how} while a statement runs`, { timeout: 120_000 }, async (t) => {
    const page = await open(t, '/sql')
    await run(page, 'select pg_sleep(300)')
    await until('it runs', async () => await working('select pg_sleep(300)') === 1)
    await restart(signal)
    await page.getByRole('alert').getByText('The connection to the database was lost').waitFor()
    await page.getByRole('alert').getByText(/has been undone, unless/).waitFor()
    await until('statements run, once the server has seen that PostgreSQL is there again', async () => {
      await run(page, `select 'there ' || 'again'`)
      await page.getByRole('gridcell', { name: 'there again', exact: true }).waitFor({ timeout: 3_000 })
      return true
    })
  })
}

test('the session is ended while a statement runs', { timeout: 120_000 }, async (t) => {
  const page = await open(t, '/sql')
  await run(page, 'select pg_sleep(301)')
  await until('it runs', async () => await working('select pg_sleep(301)') === 1)
  await ask('delete from basalt.administrator_sessions')
  await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
  await until('it was cancelled', async () => await working('select pg_sleep(301)') === 0)
  await signInAgain(page)
  await page.getByRole('alert').getByText(/what was under way was cancelled/).waitFor()
  await box(page).getByText('select pg_sleep(301)').waitFor()
})

test('the network is cut while a statement runs', { timeout: 120_000 }, async (t) => {
  const page = await open(t, '/sql')
  await run(page, 'select pg_sleep(302)')
  await until('it runs', async () => await working('select pg_sleep(302)') === 1)
  wire.cut()
  await page.getByRole('alert').getByText(/not known/).waitFor()
  await until('it was cancelled', async () => await working('select pg_sleep(302)') === 0)
  wire.mend()
  await run(page, `select 'there ' || 'again'`)
  await page.getByRole('gridcell', { name: 'there again', exact: true }).waitFor()
})

test('the network is cut when a statement was just carried out', { timeout: 120_000 }, async (t) => {
  const page = await open(t, '/sql')
  const answered = wire.mute(/"finished":/)
  await run(page, `update parcels set label = 'by SQL' where id = 5`)
  await answered
  wire.cut()
  await page.getByRole('alert').getByText(/not known/).waitFor()
  wire.mend()
  assert.equal(await label(5), 'by SQL')
})
