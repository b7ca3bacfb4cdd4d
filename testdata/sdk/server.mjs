// Starts a Basalt of its own for a test file: a fresh data folder, a free port, its own PostgreSQL.
import { spawn, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createClient } from '@supabase/supabase-js'
import pg from 'pg'
import ws from 'ws'
import { watched } from './methods.mjs'

const binary = fileURLToPath(new URL('../../bin/basalt', import.meta.url))

// Without the settings of a Basalt that this machine may run: the tests must not write into its database.
const env = Object.fromEntries(Object.entries(process.env)
  .filter(([name]) => !/^(BASALT_|PG|(DATABASE_URL|JWT_SECRET)$)/.test(name)))

export async function start(...flags) {
  const data = mkdtempSync(join(tmpdir(), 'basalt-sdk-'))
  const child = spawn(binary, ['serve', '--data', data, '--listen', '127.0.0.1:0', '--log-format', 'json', ...flags],
    { stdio: ['ignore', 'ignore', 'pipe'], env })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const lines = []
  const ready = await new Promise((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line)
      if (line.includes('"message":"ready"') || line.includes('"msg":"ready"')) resolve(JSON.parse(line))
    })
    ended.then((code) => reject(new Error(`basalt serve ended with ${code}:\n${lines.join('\n')}`)))
  })
  const run = (...args) => execFileSync(binary, [...args, '--data', data], { encoding: 'utf8', env })
  // The headers of an administrator who is signed in to the dashboard.
  const administrator = async (role = 'owner') => {
    const [email, password] = [`${role}-${Date.now()}@example.com`, 'correct horse battery']
    execFileSync(binary, ['admin', 'create', '--email', email, '--role', role, '--password-stdin', '--data', data], { env, input: password })
    const answer = await fetch(`${ready.api_url}/admin/api/session`, {
      method: 'POST', headers: { 'content-type': 'application/json', 'x-basalt-dashboard': '1' }, body: JSON.stringify({ email, password }),
    })
    if (!answer.ok) throw new Error(`sign-in to the dashboard: ${answer.status} ${await answer.text()}`)
    return { cookie: answer.headers.get('set-cookie').split(';')[0], 'x-basalt-dashboard': '1' }
  }
  const keys = Object.fromEntries(run('keys', '--env')
    .trim().split('\n').map((line) => {
      const at = line.indexOf('=')
      return [line.slice(0, at), line.slice(at + 1).replace(/^'(.*)'$/, '$1')]
    }))
  const sql = new pg.Client({ connectionString: keys.DATABASE_URL })
  await sql.connect()
  // Ends the server; its data stay.
  let halted
  const halt = () => halted ??= sql.end().then(() => {
    child.kill('SIGTERM')
    return ended
  })
  return {
    url: ready.api_url,
    keys,
    log: lines,
    administrator,
    run, // a command of the binary over the same data folder
    sql: (text, values) => sql.query(text, values),
    // Node before 22 has no WebSocket of its own; the library asks for one then.
    client(key = keys.ANON_KEY, auth = {}) {
      const client = createClient(ready.api_url, key, {
        auth: { persistSession: false, autoRefreshToken: false, ...auth },
        ...(globalThis.WebSocket ? {} : { realtime: { transport: ws } }),
      })
      client.auth = watched(client.auth)
      return client
    },
    halt,
    async stop() {
      await halt()
      rmSync(data, { recursive: true, force: true })
    },
  }
}

// Waits until a condition holds: DDL reaches the schema cache within a second.
export async function until(condition, what = 'the condition', milliseconds = 5000) {
  const end = Date.now() + milliseconds
  for (;;) {
    if (await condition()) return
    if (Date.now() > end) throw new Error(`${what} did not come true within ${milliseconds} ms`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

// Waits until the server knows a relation.
export function known(basalt, relation) {
  return until(async () => {
    const answer = await fetch(`${basalt.url}/rest/v1/${relation}?limit=0`, { headers: { apikey: basalt.keys.SERVICE_ROLE_KEY } })
    await answer.arrayBuffer()
    return answer.ok
  }, `${relation} in the schema cache`)
}
