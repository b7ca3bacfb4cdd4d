import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextSort, move, columnsWithin, arrange } from './columns.ts'
import { pieces, shorten } from './display.ts'
import { kindOf } from './kinds.ts'
import { putTogether, takeApart } from './moments.ts'
import { isSelected, rowKey, select, selectedCount } from './selection.ts'
import { initialState, type Column, type Kind } from './types.ts'
import { refuseText } from './validate.ts'

test('values are refused only where it is certain', () => {
  const cases: [Kind, string, string, boolean][] = [
    ['integer', 'int8', '9223372036854775807', true],
    ['integer', 'int8', '9223372036854775808', false],
    ['integer', 'int2', '-32768', true],
    ['integer', 'int4', '1.5', false],
    ['integer', 'int4', '', false],
    ['numeric', 'numeric', '12345678901234567890.123456789', true],
    ['numeric', 'numeric', 'NaN', true],
    ['numeric', 'numeric', '1,5', false],
    ['float', 'float8', '-Infinity', true],
    ['float', 'float8', '1e-300', true],
    ['boolean', 'bool', 'yes', true],
    ['boolean', 'bool', 'maybe', false],
    ['json', 'jsonb', '{"a": 12345678901234567890}', true],
    ['json', 'jsonb', '{a: 1}', false],
    ['uuid', 'uuid', '00000000-0000-4000-8000-000000000001', true],
    ['uuid', 'uuid', '1234', false],
    ['bytea', 'bytea', '\\xdeadbeef', true],
    ['bytea', 'bytea', '\\xabc', false],
    ['array', 'text[]', '{a,b}', true],
    ['array', 'text[]', 'a,b', false],
    ['text', 'text', 'anything', true],
    ['text', 'text', 'nul\0', false],
    ['timestamp', 'timestamptz', 'infinity', true],
  ]
  for (const [kind, type, value, good] of cases) assert.equal(refuseText(kind, type, value) === null, good, `${type} ${value}`)
})

test('elements of arrays are looked at one by one', () => {
  assert.match(refuseText('array', 'int4[]', '{1,x}', undefined, { kind: 'integer', type: 'int4' }) ?? '', /Element 2/)
})

test('what cannot be seen is shown and long values are cut', () => {
  assert.deepEqual(pieces('a\u202eb'), [{ text: 'a', mark: false }, { text: 'U+202E', mark: true }, { text: 'b', mark: false }])
  assert.equal(pieces('a\nb')[1]?.text, '↵')
  assert.equal(pieces('\u0007')[0]?.text, 'U+0007')
  assert.equal(pieces('مرحبا').length, 1)
  assert.ok(shorten('x'.repeat(5_000_000)).length <= 201)
  assert.equal(shorten('x'.repeat(199) + '😀😀'), 'x'.repeat(199) + '…')
})

test('a picked day or time leaves zone and fraction as they were', () => {
  const cases: [string, Partial<{ date: string; time: string }>, string][] = [
    ['2026-03-01 12:30:00.123456+02', { date: '2027-01-01' }, '2027-01-01 12:30:00.123456+02'],
    ['2026-03-01 12:30:00.123456+02', { time: '12:30:00' }, '2026-03-01 12:30:00.123456+02'],
    ['2026-03-01 12:30:00.5 Europe/Berlin', { time: '13:00:01' }, '2026-03-01 13:00:01 Europe/Berlin'],
    ['2026-03-01', { date: '2026-04-02' }, '2026-04-02'],
    ['12:30:00-05:30', { time: '12:31:00' }, '12:31:00-05:30'],
  ]
  for (const [text, picked, wanted] of cases) {
    const moment = takeApart(text)
    assert.ok(moment, text)
    assert.equal(putTogether({ ...moment, ...picked }, moment), wanted)
  }
  for (const text of ['infinity', '44-03-15 BC', '0044-03-15 BC', '12026-01-01', '']) assert.equal(takeApart(text), null, text)
})

test('kinds follow the words of the catalog', () => {
  const cases: [string, string, Kind][] = [
    ['int8', 'base', 'integer'], ['numeric(10,2)', 'base', 'numeric'], ['timestamp(3) with time zone', 'base', 'timestamp'],
    ['character varying(20)', 'base', 'text'], ['text[]', 'array', 'array'], ['mood', 'enum', 'enum'], ['tsvector', 'base', 'other'],
  ]
  for (const [type, kind, wanted] of cases) assert.equal(kindOf(type, kind), wanted, type)
})

test('a header chosen again turns the order, then ends it; Shift keeps the others', () => {
  const one = nextSort([], 'a', false)
  assert.deepEqual(one, [{ column: 'a', descending: false }])
  assert.deepEqual(nextSort(nextSort(one, 'a', false), 'a', false), [])
  const two = nextSort(one, 'b', true)
  assert.deepEqual(nextSort(two, 'a', true).map((s) => s.column), ['a', 'b'])
  assert.deepEqual(nextSort(two, 'c', false), [{ column: 'c', descending: false }])
})

const four: Column[] = ['a', 'b', 'c', 'd'].map((name) => ({ name, type: 'text', kind: 'text', nullable: true }))

test('columns move, hide and are found by pixels', () => {
  assert.deepEqual(move(four, [], 'a', 'c'), ['b', 'a', 'c', 'd'])
  assert.deepEqual(move(four, ['b', 'a'], 'd', null), ['b', 'a', 'c', 'd'])
  const placed = arrange(four, { ...initialState, hidden: ['b'], widths: { a: 100, c: 50, d: 200 } }, {})
  assert.deepEqual(placed.map((p) => [p.column.name, p.at, p.left]), [['a', 0, 0], ['c', 2, 100], ['d', 3, 150]])
  assert.deepEqual(columnsWithin(placed, 100, 150), [1, 2])
  assert.deepEqual(columnsWithin(placed, 0, 1000), [0, 3])
})

test('ticked rows are named, or all but the named', () => {
  let selected = select({ all: false, keys: [] }, ['1', '2'], true)
  selected = select(selected, ['1'], false)
  assert.deepEqual(selected, { all: false, keys: ['2'] })
  const but = select({ all: true, keys: [] }, ['5'], false)
  assert.equal(isSelected(but, '5'), false)
  assert.equal(selectedCount(but, 10), 9)
  assert.notEqual(rowKey(['["a"]']), rowKey(['a']))
  assert.notEqual(rowKey(['a', 'b']), rowKey(['a,b']))
})
