// What is committed is what the source gives, and it is small.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { build } from 'vite'

const root = fileURLToPath(new URL('..', import.meta.url))
const fresh = mkdtempSync(join(tmpdir(), 'basalt-web-'))
after(() => rmSync(fresh, { recursive: true, force: true }))
await build({ root, logLevel: 'error', build: { outDir: fresh } })

// The files by name, unpacked: another version of zlib may pack them differently.
function contents(folder) {
  return Object.fromEntries(readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.br'))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      const content = readFileSync(path)
      return [path.slice(folder.length + 1).replace(/\.gz$/, ''), (path.endsWith('.gz') ? gunzipSync(content) : content).toString('base64')]
    }).sort(([a], [b]) => a < b ? -1 : 1))
}

test('web/dist is built from web/src', () => {
  const [kept, built] = [contents(join(root, 'dist')), contents(fresh)]
  const differ = [...new Set([...Object.keys(kept), ...Object.keys(built)])].filter((name) => kept[name] !== built[name])
  assert.deepEqual(differ, [], 'run make web and commit web/dist')
})

// What the first screen needs: the page's own files, the shell, and what these import.
test('the first load is at most 110 KiB of code and 20 KiB of style', () => {
  const files = contents(fresh)
  const text = (name) => Buffer.from(files[name], 'base64').toString()
  const names = Object.keys(files)
  const needed = new Set(names.filter((name) => /^assets\/(index|Shell)-[\w-]+\.(js|css)$/.test(name)))
  for (const name of needed) {
    if (!name.endsWith('.js')) continue
    for (const [, found] of text(name).matchAll(/(?:from|^import|[;}]import)\s*["']\.\/([^"']+)["']/g)) needed.add(`assets/${found}`)
  }
  const size = (end) => [...needed].filter((name) => name.endsWith(end)).reduce((sum, name) => sum + gzipSync(text(name), { level: 9 }).length, 0)
  assert.ok(size('.js') <= 110 * 1024, `${size('.js')} bytes of JavaScript`)
  assert.ok(size('.css') <= 20 * 1024, `${size('.css')} bytes of CSS`)
  assert.ok(size('.js') > 20 * 1024, 'the entry was not found')
})

test('the editor of SQL is at most 160 KiB', () => {
  const files = contents(fresh)
  const editors = Object.keys(files).filter((name) => /^assets\/editor-[\w-]+\.js$/.test(name))
  assert.equal(editors.length, 1)
  const size = gzipSync(Buffer.from(files[editors[0]], 'base64'), { level: 9 }).length
  assert.ok(size <= 160 * 1024, `${size} bytes`)
})
