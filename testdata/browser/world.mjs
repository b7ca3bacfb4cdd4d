// A Basalt of its own with an administrator and a browser, for a test file: real server, real database, real Chromium.
//
//   const world = await start()
//   const page = await world.open('/users', { width: 360, scheme: 'dark' })
//   await expectNoAxeViolations(page)
//   await world.stop()
//
// Whatever a page complains about, be it an error in its console, a breach of its policy or a request to another host,
// fails the test in which the page is closed or the world stopped.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { chromium } from 'playwright-core'

const binary = process.env.BASALT_BINARY ?? fileURLToPath(new URL('../../bin/basalt', import.meta.url))
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

// Without the settings of a Basalt that this machine may run: the tests must not write into its database.
const env = Object.fromEntries(Object.entries(process.env)
  .filter(([name]) => !/^(BASALT_|PG|(DATABASE_URL|JWT_SECRET)$)/.test(name)))

export const widths = [360, 768, 1440]
export const schemes = ['light', 'dark']
export const owner = { email: 'ada@example.com', password: 'correct horse battery staple' }

/** Where Chromium is: BASALT_CHROMIUM, else where distributions put it. */
export function browserPath() {
  const found = [process.env.BASALT_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => path && existsSync(path))
  if (!found) throw new Error('No Chromium: install the package chromium of your distribution, or set BASALT_CHROMIUM to its path')
  return found
}

// A fresh database where BASALT_TEST_DATABASE_URL says; without that, Basalt starts a PostgreSQL of its own.
async function database() {
  const root = process.env.BASALT_TEST_DATABASE_URL
  if (!root) return undefined
  const name = `browser_${randomBytes(6).toString('hex')}`
  const run = async (sql) => {
    const client = new pg.Client({ connectionString: root })
    await client.connect()
    try {
      await client.query(sql)
    } finally {
      await client.end()
    }
  }
  await run(`create database ${name}`)
  const url = new URL(root)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => run(`drop database if exists ${name} with (force)`) }
}

/**
 * Starts the server and the browser. `administrator: false` leaves the server as it is at its first start: `setupURL` is
 * the link that it prints. `managed: true` has it start a PostgreSQL of its own in any case, which a test may end.
 */
export async function start({ administrator = true, managed = false, flags = [] } = {}) {
  const data = mkdtempSync(join(tmpdir(), 'basalt-browser-'))
  const base = managed ? undefined : await database()
  const where = base ? ['--database-url', base.url] : ['--data', data]
  const child = spawn(binary, ['serve', ...where, '--listen', '127.0.0.1:0', '--log-format', 'json', '--limits', 'off', ...flags],
    { stdio: ['ignore', 'ignore', 'pipe'], env, cwd: data })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const log = []
  const ready = await new Promise((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      log.push(line)
      if (line.includes('"msg":"ready"')) resolve(JSON.parse(line))
    })
    ended.then((code) => reject(new Error(`basalt serve ended with ${code}:\n${log.join('\n')}`)))
  })
  const run = (...args) => execFileSync(binary, [...args, ...where], { encoding: 'utf8', env, cwd: data })
  const keys = Object.fromEntries(run('keys', '--env').trim().split('\n').map((line) => {
    const at = line.indexOf('=')
    return [line.slice(0, at), line.slice(at + 1).replace(/^'(.*)'$/, '$1')]
  }))
  const sql = new pg.Client({ connectionString: base?.url ?? keys.DATABASE_URL })
  sql.on('error', () => {}) // its PostgreSQL was ended: the next query says so
  await sql.connect()
  const browser = await chromium.launch({ executablePath: browserPath(), args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] })
  const opened = new Set()

  const world = {
    url: ready.api_url,
    pid: child.pid,
    setupURL: ready.setup_url,
    keys,
    log,
    data, // the folder of its own PostgreSQL, if it has one
    databaseURL: base?.url ?? keys.DATABASE_URL, // for connections beside the server's
    run, // a command of the binary over the same database
    browser,
    sql: (text, values) => sql.query(text, values),

    /** A browser window of its own, with its own cookies: signed in as the owner unless told otherwise. */
    async window({ width = 1440, height = 900, scheme = 'light', signedIn = true, ...options } = {}) {
      const context = await browser.newContext({ baseURL: world.url, viewport: { width, height }, colorScheme: scheme, reducedMotion: 'reduce', ...options })
      if (signedIn) await world.signIn(context)
      return context
    },

    /** Signs a window in through the API, as the owner or by other credentials. */
    async signIn(context, credentials = owner) {
      const answer = await context.request.post('/admin/api/session', { data: credentials, headers: { 'X-Basalt-Dashboard': '1' } })
      assert.equal(answer.status(), 200, await answer.text())
    },

    /** Opens a screen in a window of its own, or in a given one, and waits until it is there. */
    async open(path, { context, ...options } = {}) {
      const page = await (context ?? await world.window(options)).newPage()
      watch(page, world.url)
      opened.add(page)
      await page.goto(new URL(`/admin${path}`, world.url).href)
      await settled(page)
      return page
    },

    /** Closes a page and its window; fails when the page has complained. */
    async close(page) {
      opened.delete(page)
      await page.context().close()
      calm(page)
    },

    async stop() {
      const pages = [...opened]
      await browser.close()
      await sql.end()
      child.kill('SIGTERM')
      await ended
      await base?.drop()
      rmSync(data, { recursive: true, force: true })
      for (const page of pages) calm(page)
    },
  }
  if (administrator) {
    const context = await browser.newContext({ baseURL: world.url })
    const token = new URL(ready.setup_url).hash.slice('#token='.length)
    const answer = await context.request.post('/admin/api/setup', { data: { token, ...owner }, headers: { 'X-Basalt-Dashboard': '1' } })
    assert.equal(answer.status(), 200, await answer.text())
    await context.close()
  }
  return world
}

const complaints = new WeakMap()

function watch(page, url) {
  const list = []
  complaints.set(page, list)
  page.on('pageerror', (error) => list.push(`error: ${error.stack ?? error}`))
  page.on('console', (message) => {
    // Answers that refuse something are part of life; the browser notes them all.
    if (message.type() === 'error' && !/^Failed to load resource: the server responded with a status of 4/.test(message.text()) && !page.expected?.test(message.text())) list.push(`console: ${message.text()}`)
  })
  page.on('request', (request) => {
    const to = new URL(request.url())
    if (to.origin !== new URL(url).origin && !['data:', 'blob:', 'about:'].includes(to.protocol)) list.push(`request to ${to.origin}`)
  })
}

/** Lets a page complain of what a test does to it on purpose, such as cutting its network. */
export function expecting(page, pattern) {
  page.expected = pattern
}

/** Fails when a page has complained. */
export function calm(page) {
  const list = complaints.get(page) ?? []
  assert.deepEqual(list, [], 'the page has complained')
}

/** Waits until a condition holds; one that throws does not hold yet. */
export async function until(what, condition) {
  for (const end = Date.now() + 60_000; ;) {
    if (await (async () => condition())().catch(() => false)) return
    assert.ok(Date.now() < end, `it is not so that ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Waits until a screen is drawn and nothing is being loaded. */
export async function settled(page) {
  await page.locator('main').first().waitFor()
  await page.waitForFunction(() => !document.querySelector('main [aria-busy=true]'))
}

/** Fails when axe finds anything, of whatever impact, against WCAG 2.2 AA and good practice. */
export async function expectNoAxeViolations(page, context = 'document') {
  if (!await page.evaluate(() => 'axe' in window)) {
    // Past the page's own policy, which rightly lets no text run.
    const session = await page.context().newCDPSession(page)
    await session.send('Runtime.evaluate', { expression: axe })
    await session.detach()
  }
  const found = await page.evaluate(async (selector) => {
    const { violations } = await window.axe.run(selector === 'document' ? document : selector, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
      resultTypes: ['violations'],
    })
    return violations.map(({ id, impact, help, nodes }) => `${id} (${impact}): ${help}\n${nodes.map(({ html, failureSummary }) => `  ${html}\n    ${failureSummary.replaceAll('\n', ' ')}`).join('\n')}`)
  }, context)
  assert.deepEqual(found, [], found.join('\n'))
}

/** Fails when the page can be scrolled sideways: at 360 px everything must fit (WCAG 1.4.10). */
export async function expectNoSidewaysScroll(page) {
  const { wide, room } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, room: innerWidth }))
  assert.ok(wide <= room, `the page is ${wide} px wide in a window of ${room} px`)
}

/** Runs axe on a screen in both schemes and at all widths. Each time it is opened anew: in a page whose scheme changes Chromium keeps some inherited colours. */
export async function expectAccessible(world, path, { prepare, signedIn = true } = {}) {
  for (const width of widths) {
    for (const scheme of schemes) {
      const page = await world.open(path, { width, scheme, signedIn })
      try {
        await prepare?.(page, world)
        await settled(page)
        await expectNoAxeViolations(page)
        await expectNoSidewaysScroll(page)
      } catch (error) {
        error.message = `${path} at ${width} px, ${scheme}: ${error.message}`
        throw error
      }
      await world.close(page)
    }
  }
}
