import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reuse, Scroller, tallest } from './window.ts'

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

test('rows that come are drawn by the elements of those that went', () => {
  const before = reuse([], [0, 1, 2, 3])
  assert.deepEqual(before.map((slot) => slot.key), [0, 1, 2, 3])
  const after = reuse(before, [2, 3, 4, 5])
  assert.deepEqual(after.filter((slot) => slot.at < 4), before.slice(2))
  assert.deepEqual(new Set(after.map((slot) => slot.key)), new Set([0, 1, 2, 3]))
  // The element of a row that stays is the same object, so that nothing of it is drawn anew.
  assert.equal(after.find((slot) => slot.at === 3), before[3])
})

test('elements are made where there are too few, and dropped where there are too many', () => {
  const few = reuse([{ key: 7, at: 3 }], [3, 4])
  assert.deepEqual(few, [{ key: 7, at: 3 }, { key: 8, at: 4 }])
  assert.deepEqual(reuse(few, [9]), [{ key: 7, at: 9 }])
  assert.deepEqual(reuse(few, []), [])
})

test('elements that none takes can wait for the next to come', () => {
  const all = reuse([], [0, 1, 2])
  assert.deepEqual(reuse(all, [2], 10), [{ key: 2, at: 2 }, { key: 0, at: 0 }, { key: 1, at: 1 }])
  assert.deepEqual(reuse(all, [0], 2), [{ key: 0, at: 0 }, { key: 1, at: 1 }], 'there is no third any more')
})
