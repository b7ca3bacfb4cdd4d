import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Scroller, tallest } from './window.ts'

function scroller(rows: number): Scroller {
  const s = new Scroller()
  s.rows = rows
  s.rowHeight = 32
  s.view = 640
  return s
}

test('a height below the cap is scrolled as it is', () => {
  const s = scroller(1000)
  s.scrolled(320)
  assert.equal(s.top, 320)
  assert.deepEqual(s.rowsInView(2), [8, 32])
  assert.equal(s.span.base, 0)
})

test('beyond the cap the ends of the bar are the ends of the rows', () => {
  const s = scroller(1_000_000)
  assert.equal(s.height, tallest)
  s.scrolled(tallest - 640)
  assert.deepEqual(s.rowsInView(0), [999_980, 1_000_000])
  s.scrolled(0)
  assert.deepEqual(s.rowsInView(0), [0, 20])
})

test('every row can be shown, and its place in the element is in the element', () => {
  const s = scroller(1_000_000)
  for (const row of [0, 1, 17, 249_999, 250_000, 499_999, 777_777, 999_979, 999_980]) {
    s.to(row * 32)
    assert.equal(s.rowsInView(0)[0], row)
    const y = row * 32 + s.span.base
    assert.ok(y >= 0 && y + 640 <= tallest, `row ${row} is drawn at ${y}`)
  }
})

test('small movements are one to one even where the bar stands for more', () => {
  const s = scroller(1_000_000)
  const at = s.to(500_000 * 32)
  s.scrolled(at + 96)
  assert.equal(s.top, 500_003 * 32)
  s.scrolled(at)
  assert.equal(s.top, 500_000 * 32)
})

test('the bar dragged goes to its proportion of the rows', () => {
  const s = scroller(1_000_000)
  s.scrolled((tallest - 640) / 2)
  assert.equal(Math.round(s.top / 32), 499_990)
})

test('where the bar comes to rest shows the same rows', () => {
  const s = scroller(1_000_000)
  s.to(32)
  for (let i = 0; i < 200; i++) s.scrolled(1 + i * 100)
  const top = s.top
  s.to(top)
  assert.equal(s.top, top)
  assert.ok(s.settled() > 0)
})

test('a row is brought into view with the least movement', () => {
  const s = scroller(1000)
  s.to(320)
  assert.equal(s.reveal(5), 160)
  assert.equal(s.reveal(15), 320)
  assert.equal(s.reveal(30), 31 * 32 - 640)
})
