// The grid alone, in a real browser, over a million made-up rows (web/harness).
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const web = fileURLToPath(new URL('../../web', import.meta.url))
const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' }
// The policy of the dashboard, but for axe, which Playwright evaluates outside of it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'"

let folder, server, browser, base

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'grid-'))
  execFileSync(process.execPath, [join(web, 'node_modules/vite/bin/vite.js'), 'build', '-c', 'harness/vite.config.ts', '--logLevel', 'warn'], {
    cwd: web,
    env: { ...process.env, BASALT_HARNESS: folder },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  server = createServer(async (request, response) => {
    const name = new URL(request.url, 'http://grid').pathname
    try {
      const body = await readFile(join(folder, name === '/' ? 'index.html' : name))
      response.setHeader('Content-Type', types[extname(name)] ?? 'text/html')
      response.setHeader('Content-Security-Policy', policy)
      response.end(body)
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  base = `http://127.0.0.1:${server.address().port}/`
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] })
})

after(async () => {
  await browser?.close()
  server?.close()
  if (folder) rmSync(folder, { recursive: true })
})

/** Opens the page, and closes it after the test: nothing may have been written to its console. */
async function open(t, { query = {}, width = 1280, height = 800, scheme = 'light', touch = false } = {}) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    hasTouch: touch,
    isMobile: touch,
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
  const complaints = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.stack))
  await page.goto(base + '?' + new URLSearchParams(query))
  if (query.rows !== '0') await page.waitForSelector('.cell .value')
  t.after(async () => {
    await context.close()
    assert.deepEqual(complaints, [])
  })
  return page
}

const cell = (row, column) => `[data-row="${row}"][data-column="${column}"]`
const active = (page) => page.evaluate(() => `${document.activeElement.dataset.row} ${document.activeElement.dataset.column}`)
const said = (page, text) => page.waitForFunction((t) => document.querySelector('[aria-live]').textContent.includes(t), text)
const at = (page, row, column) => page.waitForFunction(([r, c]) => document.activeElement?.matches(`[data-row="${r}"][data-column="${c}"]`), [row, column])
const text = (page, row, column) => page.locator(`${cell(row, column)} .value`).innerText()
const drawn = (page, row) => page.waitForFunction((r) => document.querySelector(`[data-row="${r}"][data-column="0"] .value`)?.textContent === String(r + 1), row)

/** Goes to a cell by keyboard: the columns far to the right are not drawn yet. */
async function to(page, row, column) {
  await page.locator('[role=grid] [tabindex="0"]').focus()
  await page.keyboard.press('Control+Home')
  for (let i = 0; i < row; i++) await page.keyboard.press('ArrowDown')
  for (let i = 0; i < column; i++) await page.keyboard.press('ArrowRight')
  await at(page, row, column)
}

async function clean(page) {
  await page.evaluate(axe)
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }))
  assert.deepEqual(violations.map((v) => `${v.id} (${v.impact}): ${v.nodes.map((n) => n.html.slice(0, 160)).join(' | ')}`), [])
}

test('any of a million rows is reached by the scroll bar, and shown at once', async (t) => {
  const page = await open(t)
  const times = []
  for (const share of [0.5, 0.013, 1, 0.25, 0.77, 0, 0.9991]) {
    const ms = await page.evaluate(async (share) => {
      const scroll = document.querySelector('[role=grid]')
      const start = performance.now()
      scroll.scrollTop = share * (scroll.scrollHeight - scroll.clientHeight)
      for (;;) {
        await new Promise((frame) => requestAnimationFrame(frame))
        const box = scroll.getBoundingClientRect()
        const middle = document.elementFromPoint(box.left + 300, box.top + box.height / 2)?.closest('[data-row]')
        const shown = middle?.querySelector('.value')?.textContent
        const row = Math.round(share * 1_000_000)
        if (shown && Math.abs(Number(middle.dataset.row) - row) < 60) return performance.now() - start
        if (performance.now() - start > 5000) return Infinity
      }
    }, share)
    times.push(Math.round(ms))
  }
  t.diagnostic(`ms to show rows after a jump: ${times.join(', ')}`)
  assert.ok(Math.max(...times) < 5000, `${times}`)
})

test('the wheel moves rows one to one in the middle of a million', async (t) => {
  const page = await open(t)
  await page.evaluate(() => harness.scrollToRow(600_000))
  await drawn(page, 600_000)
  await page.mouse.move(600, 400)
  await page.mouse.wheel(0, 320)
  await page.waitForFunction(() => Number(document.querySelector('.place input').value.replaceAll(',', '')) === 600_011)
  await page.waitForFunction(() => harness.state().row === 600_010)
})

test('two hundred columns are drawn only as far as they are seen', async (t) => {
  const page = await open(t, { query: { columns: '200' } })
  const nodes = () => page.evaluate(() => document.querySelectorAll('.cell').length)
  assert.ok((await nodes()) < 900, `${await nodes()} cells are drawn`)
  await page.evaluate(async () => {
    const scroll = document.querySelector('[role=grid]')
    for (let i = 0; i < 60; i++) {
      scroll.scrollLeft += 180
      scroll.scrollTop += 90
      await new Promise((frame) => requestAnimationFrame(frame))
    }
  })
  assert.ok((await nodes()) < 900)
})

// What keeps scrolling smooth is tested by what is done, not by the clock: no element comes or goes, no file is
// read, and few layers are put together. The times are told.
test('sixty columns scroll smoothly', async (t) => {
  const page = await open(t, { width: 1440, height: 900 })
  const reader = await page.context().newCDPSession(page)
  let layers = []
  reader.on('LayerTree.layerTreeDidChange', (tree) => (layers = tree.layers ?? layers))
  await reader.send('LayerTree.enable')
  for (const [way, down, right] of [['down', 40, 0], ['to the right', 0, 60], ['both ways', 40, 60]]) {
    const { took, made } = await page.evaluate(async ([down, right]) => {
      const scroll = document.querySelector('[role=grid]')
      scroll.scrollTo(0, 3000)
      await new Promise((read) => setTimeout(read, 400))
      const took = []
      let made = 0
      const watch = new MutationObserver((changes) => {
        for (const { addedNodes } of changes) for (const node of addedNodes) if (node.matches?.('.record, .cell')) made++
      })
      watch.observe(scroll, { childList: true, subtree: true })
      let before = performance.now()
      for (let i = 0; i < 100; i++) {
        scroll.scrollTop += down
        scroll.scrollLeft += Math.floor(i / 40) % 2 === 0 ? right : -right
        await new Promise((frame) => requestAnimationFrame(frame))
        took.push(performance.now() - before)
        before = performance.now()
      }
      watch.disconnect()
      return { took: took.sort((a, b) => a - b), made }
    }, [down, right])
    const late = took.filter((ms) => ms > 34).length
    t.diagnostic(`${way}: ms a frame, median ${took[50].toFixed(1)}, 95th percentile ${took[95].toFixed(1)}; ${late} % over 34`)
    // Columns differ in width, so a row may need another cell or two; without reuse there are some thousands.
    assert.ok(made < 400, `${made} elements were made while scrolling ${way}`)
  }
  assert.ok(layers.length > 0 && layers.length < 20, `${layers.length} layers`)
})

test('rows are read one by one in their order, whatever has scrolled by, and the focus stays in its cell', async (t) => {
  const page = await open(t)
  await page.click(cell(3, 1))
  await page.mouse.wheel(0, 320)
  const order = () => page.evaluate(() => [...document.querySelectorAll('.record')].map((row) => Number(row.getAttribute('aria-rowindex'))))
  await page.waitForFunction(() => document.querySelector('.record:last-child').getAttribute('aria-rowindex') > 35)
  await page.waitForFunction(() => {
    const rows = [...document.querySelectorAll('.record')].map((row) => Number(row.getAttribute('aria-rowindex')))
    return rows.every((row, i) => i === 0 || row > rows[i - 1])
  })
  assert.ok((await order()).includes(5), 'the row with the focus is drawn')
  await at(page, 3, 1)
  const columns = await page.evaluate(() => [...document.querySelectorAll('.record:last-child .cell')].map((c) => Number(c.dataset.column)))
  assert.deepEqual(columns, columns.toSorted((a, b) => a - b))
})

test('one Tab stop; arrows, Home, End and pages move by the grid pattern', async (t) => {
  const page = await open(t)
  await page.locator('.before').first().focus()
  await page.keyboard.press('Tab')
  await at(page, 0, 0)
  assert.equal(await page.locator('[role=grid] [tabindex="0"]').count(), 1)
  for (const [key, row, column] of [
    ['ArrowDown', 1, 0], ['ArrowRight', 1, 1], ['End', 1, 59], ['Home', 1, 0], ['Control+End', 999_999, 59], ['Control+Home', 0, 0],
    ['PageDown', 19, 0], ['PageUp', 0, 0], ['ArrowUp', -1, 0], ['ArrowRight', -1, 1], ['ArrowDown', 0, 1], ['ArrowLeft', 0, 0], ['ArrowLeft', 0, -1],
  ]) {
    await page.keyboard.press(key)
    await at(page, row, column)
  }
  await page.keyboard.press('Shift+Tab')
  assert.equal(await page.evaluate(() => document.activeElement.className.includes('before')), true)
  assert.deepEqual(
    await page.locator('[role=grid]').evaluate((g) => [g.getAttribute('aria-rowcount'), g.getAttribute('aria-colcount')]),
    ['1000001', '61'],
  )
  assert.equal(await page.locator('[role=row]').nth(1).getAttribute('aria-rowindex'), '2')
})

test('an edit is a draft until it is saved, and then the row is as it was stored', async (t) => {
  const page = await open(t)
  await page.click(cell(2, 1))
  await page.keyboard.type('Harbour')
  await page.keyboard.press('Enter')
  await at(page, 3, 1)
  assert.equal(await text(page, 2, 1), 'Harbour')
  assert.ok(await page.locator(cell(2, 1)).evaluate((c) => c.classList.contains('edited')))
  await to(page, 2, 12)
  await page.keyboard.press('Delete')
  await said(page, 'Set to null')
  await page.keyboard.press('Control+Enter')
  await said(page, '1 row saved')
  assert.deepEqual(await page.evaluate(() => harness.saves), [
    [{ op: 'update', key: { id: '3' }, set: { name: 'Harbour', note: null }, was: { name: 'Place 3', note: 'Note of place 3' } }],
  ])
  await page.keyboard.press('Home')
  await page.waitForFunction((c) => document.querySelector(c + ' .value')?.textContent === 'Harbour', cell(2, 1))
  assert.equal(await page.locator('.cell.edited').count(), 0)
})

test('the cell keeps the focus when drafts are saved, by keys or by the button', async (t) => {
  const page = await open(t)
  for (const [value, save] of [['Harbour', () => page.keyboard.press('Control+Enter')], ['Quay', () => page.getByRole('button', { name: 'Save' }).click()]]) {
    await page.click(cell(2, 1))
    await page.keyboard.type(value)
    await page.keyboard.press('Enter')
    await at(page, 3, 1)
    await save()
    await page.getByText('not saved').first().waitFor({ state: 'detached' })
    await at(page, 3, 1)
    await page.keyboard.press('ArrowDown')
    await at(page, 4, 1)
  }
})

test('the focus stays where it was moved to while drafts were saved', async (t) => {
  const page = await open(t)
  await page.click(cell(2, 1))
  await page.keyboard.type('Harbour')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByLabel('Go to row').focus()
  await said(page, '1 row saved')
  await page.getByText('not saved').first().waitFor({ state: 'detached' })
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Go to row')
})

test('F2 edits, Escape leaves the cell as it was, Tab commits and moves', async (t) => {
  const page = await open(t)
  await page.click(cell(1, 1))
  await page.keyboard.press('F2')
  await page.keyboard.type('gone')
  await page.keyboard.press('Escape')
  await at(page, 1, 1)
  assert.equal(await text(page, 1, 1), 'Place 2')
  await page.keyboard.press('F2')
  await page.keyboard.type('kept')
  await page.keyboard.press('Tab')
  await at(page, 1, 2)
  assert.equal(await text(page, 1, 1), 'kept')
  await page.keyboard.press('Control+z')
  assert.equal(await text(page, 1, 1), 'Place 2')
})

test('what cannot be stored is said where it is written, and big numbers stay exact', async (t) => {
  const page = await open(t)
  await page.click(cell(1, 3))
  await page.keyboard.type('12x')
  await page.keyboard.press('Enter')
  assert.equal(await page.locator('.editor [role=alert]').innerText(), '"12x" is not a number')
  // It is selected: what is typed next takes its place.
  await page.keyboard.type('9007199254740993.1')
  await page.keyboard.press('Enter')
  assert.equal(await text(page, 1, 3), '9007199254740993.1')
  assert.equal(await text(page, 0, 3), '9007199254740993.000000001')
})

test('what kept drafts from being saved is told until it is mended, and Ctrl+S saves as Ctrl+Enter does', async (t) => {
  const page = await open(t)
  await page.click(cell(1, 3))
  await page.keyboard.type('2,50')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await at(page, 1, 4)
  await page.keyboard.press('Control+s')
  await at(page, 1, 3)
  await page.locator('.foot .problem').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Save' }).getAttribute('title'), 'Ctrl+Enter or Ctrl+S')
  await page.keyboard.type('2.50')
  await page.keyboard.press('Enter')
  await page.locator('.foot .problem').waitFor({ state: 'detached' })
  await to(page, 2, 1)
  await page.keyboard.type('Saved')
  await page.keyboard.press('Control+s')
  await said(page, '2 rows saved')
})

test('a refusal stays at its cell with the reason until it is mended', async (t) => {
  const page = await open(t)
  await page.click(cell(4, 1))
  await page.keyboard.type('Twice')
  await page.keyboard.press('Enter')
  await page.evaluate(() => harness.answerWith({ status: 'refused', index: 0, column: 'name', reason: 'that name is taken' }))
  await page.keyboard.press('Control+Enter')
  await said(page, 'Not saved. that name is taken')
  await at(page, 4, 1)
  assert.equal(await page.locator(cell(4, 1)).getAttribute('aria-invalid'), 'true')
  assert.equal(await page.locator('.reason:popover-open').innerText(), 'that name is taken')
  assert.equal(await text(page, 4, 1), 'Twice')
  await page.evaluate(() => harness.answerWith(null))
  await page.keyboard.type('Once')
  await page.keyboard.press('Control+Enter')
  await said(page, '1 row saved')
})

test('a conflict shows both changes, and either can be kept', async (t) => {
  const page = await open(t)
  await page.click(cell(2, 1))
  await page.keyboard.type('Mine')
  await page.keyboard.press('Enter')
  await page.evaluate(() => {
    const theirs = Array(60).fill(null)
    ;[theirs[0], theirs[1], theirs[9]] = ['3', 'Theirs', '2026-01-01 00:00:00+00']
    harness.answerWith({ status: 'conflict', conflicts: [{ index: 0, theirs }] })
  })
  await page.keyboard.press('Control+Enter')
  const shown = page.getByRole('region', { name: 'Conflict' })
  await shown.waitFor()
  assert.match(await shown.innerText(), /Mine[^]*Theirs/)
  await page.evaluate(() => harness.answerWith(null))
  await page.getByRole('button', { name: 'Keep mine' }).click()
  await page.keyboard.press('Control+Enter')
  await said(page, '1 row saved')
  assert.deepEqual(await page.evaluate(() => harness.saves.at(-1)[0].was), { name: 'Theirs' })
})

test('ranges are copied and pasted as spreadsheets do', async (t) => {
  const page = await open(t)
  await page.click(cell(4, 0))
  await page.keyboard.press('Shift+ArrowRight')
  await page.keyboard.press('Shift+ArrowDown')
  await page.keyboard.press('Control+c')
  await said(page, '4 cells copied')
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), '5\t"two\nlines\tand a tab"\n6\t<img src=x onerror=alert(1)>')
  await page.evaluate(() => navigator.clipboard.writeText('one\t1\r\n"two ""2"""\t\r\n'))
  await page.click(cell(10, 1))
  await page.keyboard.press('Control+v')
  await said(page, '4 cells pasted')
  assert.deepEqual([await text(page, 10, 1), await text(page, 10, 2), await text(page, 11, 1), await text(page, 11, 2)], ['one', '1', 'two "2"', 'NULL'])
})

test('a range out of view is read before it is copied', async (t) => {
  const page = await open(t)
  await page.click(cell(0, 0))
  await page.keyboard.down('Shift')
  for (let i = 0; i < 70; i++) await page.keyboard.press('PageDown')
  await page.keyboard.up('Shift')
  await page.keyboard.press('Control+c')
  await said(page, 'cells copied')
  const lines = (await page.evaluate(() => navigator.clipboard.readText())).split('\n')
  assert.deepEqual([lines[0], lines.at(-1)], ['1', String(70 * 19 + 1)])
})

test('rows are ticked one by one, through, and all', async (t) => {
  const page = await open(t)
  await page.click(cell(2, 1))
  await page.keyboard.press('Space')
  await said(page, '1 row selected')
  await page.click(cell(5, -1), { modifiers: ['Shift'] })
  await said(page, '4 rows selected')
  assert.deepEqual(await page.evaluate(() => harness.state().selected), { all: false, keys: ['3', '4', '5', '6'] })
  await page.getByRole('checkbox', { name: 'Select all rows' }).click()
  await said(page, '1,000,000 rows selected')
  await page.click(cell(1, -1))
  await said(page, '999,999 rows selected')
})

test('columns are sorted, resized, moved, hidden and frozen by keyboard', async (t) => {
  const page = await open(t)
  await page.click(cell(0, 1))
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  assert.deepEqual(await page.evaluate(() => harness.state().sort), [{ column: 'name', descending: true }])
  assert.equal(await page.locator(cell(-1, 1)).getAttribute('aria-sort'), 'descending')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Shift+Enter')
  assert.equal(await page.evaluate(() => harness.state().sort.length), 2)
  const width = (await page.locator(cell(-1, 2)).boundingBox()).width
  await page.keyboard.press('Shift+ArrowRight')
  assert.equal((await page.locator(cell(-1, 2)).boundingBox()).width, width + 8)
  await page.keyboard.press('Control+Shift+ArrowLeft')
  await at(page, -1, 1)
  assert.match(await page.locator(cell(-1, 1)).innerText(), /city_id/)
  await page.keyboard.press('Alt+ArrowDown')
  await page.getByRole('menuitem', { name: 'Freeze up to this column' }).click()
  assert.equal(await page.evaluate(() => harness.state().frozen), 2)
  await page.keyboard.press('Alt+ArrowDown')
  await page.getByRole('menuitem', { name: 'Hide' }).click()
  assert.deepEqual(await page.evaluate(() => harness.state().hidden), ['city_id'])
})

test('columns are resized and moved by the mouse', async (t) => {
  const page = await open(t)
  const from = await page.locator(cell(-1, 1)).boundingBox()
  await page.mouse.move(from.x + from.width - 1, from.y + 10)
  await page.mouse.down()
  await page.mouse.move(from.x + from.width + 59, from.y + 10, { steps: 4 })
  await page.mouse.up()
  assert.equal(Math.round((await page.locator(cell(-1, 1)).boundingBox()).width), Math.round(from.width) + 60)
  const over = await page.locator(cell(-1, 3)).boundingBox()
  await page.mouse.move(from.x + 20, from.y + 10)
  await page.mouse.down()
  await page.mouse.move(over.x + over.width - 10, over.y + 10, { steps: 6 })
  await page.mouse.up()
  assert.deepEqual(await page.evaluate(() => harness.state().order.slice(0, 4)), ['id', 'city_id', 'population', 'name'])
  assert.deepEqual(await page.evaluate(() => harness.state().sort), [])
})

test('a row is inserted at the top with its defaults', async (t) => {
  const page = await open(t)
  await page.evaluate(() => harness.insert())
  await at(page, 0, 1)
  assert.equal(await text(page, 0, 0), 'default')
  await page.keyboard.press('Control+Enter')
  await said(page, 'name needs a value')
  await page.keyboard.type('New place')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Control+Enter')
  await said(page, '1 row saved')
  assert.deepEqual(await page.evaluate(() => harness.saves.at(-1)), [{ op: 'insert', key: {}, set: { name: 'New place' }, was: {} }])
})

test('editors know the types', async (t) => {
  const page = await open(t, { width: 1600 })
  await page.click(cell(1, 4))
  await page.keyboard.press('Enter')
  await page.keyboard.type('f')
  await page.keyboard.press('Enter')
  assert.equal(await text(page, 1, 4), 'false')
  await page.click(cell(1, 5))
  await page.keyboard.press('Enter')
  await page.getByRole('option', { name: 'under repair' }).click()
  assert.equal(await text(page, 1, 5), 'under repair')
  await page.click(cell(1, 6))
  await page.keyboard.press('Enter')
  await page.keyboard.type('a, b')
  await page.keyboard.press('Control+Enter')
  await said(page, '1 row saved')
  assert.equal(await page.evaluate(() => harness.saves.at(-1)[0].set.tags), '{"a, b","old town",n2}')
  await page.click(cell(1, 2))
  await page.keyboard.press('Enter')
  await page.keyboard.type('oslo')
  await page.waitForFunction(() => document.querySelector('.editor [role=status]').textContent.trim() === '1 row')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  assert.equal(await text(page, 1, 2), '5')
  await page.click(cell(1, 9))
  await page.keyboard.press('Enter')
  await page.getByLabel('Day of seen_at').fill('2027-12-24')
  await page.getByRole('button', { name: 'Done' }).click()
  assert.equal(await text(page, 1, 9), '2027-12-24 12:30:00.002+01')
})

test('the row a foreign key leads to is shown beside it', async (t) => {
  const page = await open(t)
  await page.click(`${cell(1, 2)} button`)
  await page.getByRole('dialog').getByText('São Paulo').first().waitFor()
  await page.keyboard.press('Escape')
  await at(page, 1, 2)
})

test('hostile and huge values are text, and short', async (t) => {
  const page = await open(t)
  assert.equal(await text(page, 5, 1), '<img src=x onerror=alert(1)>')
  assert.equal(await text(page, 3, 1), 'aU+202Egnp.exeU+0007')
  await to(page, 1, 12)
  assert.ok((await text(page, 1, 12)).length < 300)
  await page.keyboard.press('Enter')
  await said(page, 'too long to be edited here')
})

test('rows that could not be read say why and are tried again', async (t) => {
  const page = await open(t)
  await page.evaluate(() => {
    harness.server.broken = 'the connection was lost'
    harness.scrollToRow(400_000)
  })
  await page.getByText('the connection was lost').waitFor()
  await page.evaluate(() => (harness.server.broken = null))
  await page.getByRole('button', { name: 'Try again' }).click()
  await drawn(page, 400_005)
})

test('what is scrolled past is not waited for', async (t) => {
  const page = await open(t)
  await page.evaluate(async () => {
    harness.server.delay = 1000
    for (let i = 1; i < 40; i++) {
      harness.scrollToRow(i * 20_000)
      await new Promise((frame) => requestAnimationFrame(frame))
    }
    harness.server.delay = 5
    harness.scrollToRow(900_000)
  })
  await drawn(page, 900_005)
  assert.ok(await page.evaluate(() => harness.server.open <= 4))
})

test('taps select and open editors on a small screen', async (t) => {
  const page = await open(t, { width: 360, height: 740, touch: true })
  await page.tap(cell(3, 1))
  await at(page, 3, 1)
  await page.tap(cell(3, 1))
  await page.locator('.editor textarea').fill('tapped')
  await page.getByRole('button', { name: 'Done' }).tap()
  assert.equal(await text(page, 3, 1), 'tapped')
  await page.tap(cell(4, -1))
  await said(page, '1 row selected')
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 360))
})

test('without a way to save nothing can be changed', async (t) => {
  const page = await open(t, { query: { readonly: '' } })
  await page.click(cell(1, 1))
  await page.keyboard.press('Enter')
  await said(page, 'cannot be changed')
  assert.equal(await page.locator('[role=grid]').getAttribute('aria-readonly'), 'true')
})

test('no rows show what the owner says of it', async (t) => {
  const page = await open(t, { query: { rows: '0' } })
  await page.getByText('No rows yet').waitFor()
  await clean(page)
})

for (const scheme of ['light', 'dark']) {
  for (const width of [360, 1280]) {
    test(`axe finds nothing at ${width} px, ${scheme}`, async (t) => {
      const page = await open(t, { scheme, width })
      await clean(page)
      await page.click(cell(1, 0))
      await page.keyboard.press('Space')
      await page.evaluate(() => harness.insert())
      await at(page, 0, 1)
      await page.keyboard.type('New')
      await page.keyboard.press('Enter')
      await page.evaluate(() => harness.answerWith({ status: 'refused', index: 0, column: 'name', reason: 'that name is taken' }))
      await page.keyboard.press('Control+Enter')
      await said(page, 'Not saved')
      await clean(page)
      for (const column of [2, 3, 4, 5, 6, 7, 9, 11, 12]) {
        await to(page, 0, column)
        await page.keyboard.press('F2')
        await page.locator('.editor').waitFor()
        await clean(page)
        await page.keyboard.press('Escape')
        await at(page, 0, column)
      }
      await page.keyboard.press('Shift+F10')
      await page.getByRole('menu').waitFor()
      await clean(page)
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Columns' }).click()
      await page.getByRole('dialog').waitFor()
      await clean(page)
    })
  }
}
