import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Pages } from './pages.ts'
import type { Row, Source } from './types.ts'

interface Request { from: number; to: number; signal: AbortSignal; answer: (rows: Row[]) => void; fail: (error: Error) => void }

function source(count: number, estimated = false): { source: Source; requests: Request[] } {
  const requests: Request[] = []
  const fetch = (from: number, to: number, signal: AbortSignal) =>
    new Promise<Row[]>((answer, fail) => requests.push({ from, to, signal, answer, fail }))
  return { source: { count, estimated, fetch }, requests }
}

const rows = (from: number, to: number): Row[] => Array.from({ length: to - from }, (_, i) => [String(from + i)])
const settled = () => new Promise((done) => setImmediate(done))

test('the window is read first, then a page ahead', async () => {
  const { source: s, requests } = source(10_000)
  const pages = new Pages(s, () => {})
  pages.want(150, 250, true)
  assert.deepEqual(requests.map((r) => r.from), [100, 200, 300, 0])
  assert.equal(pages.row(150), 'loading')
  requests[0]!.answer(rows(100, 200))
  await settled()
  assert.deepEqual(pages.row(150), ['150'])
})

test('what is no longer in view is given up', () => {
  const { source: s, requests } = source(1_000_000)
  const pages = new Pages(s, () => {})
  pages.want(0, 20, true)
  pages.want(500_000, 500_020, true)
  assert.ok(requests.slice(0, 2).every((r) => r.signal.aborted))
  pages.close()
})

test('a failure is shown at its rows and tried again on demand', async () => {
  const { source: s, requests } = source(50)
  const pages = new Pages(s, () => {})
  pages.want(0, 20, true)
  requests[0]!.fail(new Error('no connection'))
  await settled()
  assert.deepEqual(pages.row(3), { failed: 'no connection' })
  pages.retry(3)
  requests[1]!.answer(rows(0, 50))
  await settled()
  assert.deepEqual(pages.row(3), ['3'])
})

test('an estimate is mended where the rows end', async () => {
  const { source: s, requests } = source(500, true)
  const pages = new Pages(s, () => {})
  pages.want(90, 110, true)
  requests.find((r) => r.from === 100)!.answer(rows(100, 142))
  await settled()
  assert.equal(pages.count, 142)
})

test('pages long unused are forgotten', async () => {
  const { source: s, requests } = source(1_000_000)
  const pages = new Pages(s, () => {})
  for (let page = 0; page < 90; page++) {
    pages.want(page * 100, page * 100 + 100, true)
    for (const r of requests.splice(0)) if (!r.signal.aborted) r.answer(rows(r.from, r.to))
    await settled()
    for (const r of requests.splice(0)) if (!r.signal.aborted) r.answer(rows(r.from, r.to))
    await settled()
  }
  assert.equal(pages.row(0), 'loading')
  assert.deepEqual(pages.row(8950), ['8950'])
  pages.close()
})
