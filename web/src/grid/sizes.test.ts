import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fitWidths } from './sizes.ts'
import type { Column, Kind } from './types.ts'

const measure = (text: string) => text.length * 7
const column = (name: string, kind: Kind): Column => ({ name, type: kind, kind, nullable: true })
const columns = [column('a', 'uuid'), column('b', 'timestamp'), column('c', 'json'), column('d', 'integer')]

test('columns without values are as wide as is usual for their kind', () => {
  const empty = fitWidths(columns, [], measure)
  assert.deepEqual(fitWidths(columns, [[null, null, null, null]], measure), empty)
  assert.ok(empty.a! > empty.b! && empty.b! > empty.c! && empty.c! > empty.d!, JSON.stringify(empty))
  const full = fitWidths(columns, [['6f1362a0-0000-4000-8000-1234567890ab', '2026-12-03 06:45:00.654321+00', '{}', '1']], measure)
  assert.deepEqual([full.a, full.b], [empty.a, empty.b])
})

test('a moment has room for all digits of its fraction', () => {
  assert.equal(fitWidths(columns, [[null, '2026-12-03 06:45:00+00', null, null]], measure).b, fitWidths(columns, [], measure).b)
})

test('values decide where there are any', () => {
  assert.ok(fitWidths(columns, [[null, null, '{}', null]], measure).c! < fitWidths(columns, [], measure).c!)
})
