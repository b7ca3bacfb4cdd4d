import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromTsv, toTsv } from './clipboard.ts'
import type { Value } from './types.ts'

test('a copy pasted back is the same', () => {
  const cases: Value[][][] = [
    [['a', 'b'], ['c', 'd']],
    [['with\ttab', 'with\nline', 'with "quotes"']],
    [[null, '', 'x'], ['', null, '']],
    [['"', '""', 'a"b']],
    [['carriage\r\nreturn', ' spaces ', 'null']],
  ]
  for (const rows of cases) assert.deepEqual(fromTsv(toTsv(rows)), rows)
})

test('what spreadsheets put on the clipboard is read', () => {
  const cases: [string, Value[][]][] = [
    ['a\tb\r\nc\td\r\n', [['a', 'b'], ['c', 'd']]],
    ['a\rb', [['a'], ['b']]],
    ['"two\nlines"\t5', [['two\nlines', '5']]],
    ['"say ""hi"""', [['say "hi"']]],
    ['\t', [[null, null]]],
    ['a\n\nb', [['a'], [null], ['b']]],
    ['"quoted" word\tx', [['"quoted" word', 'x']]],
    ['"never closed', [['"never closed']]],
    ['5" pipe', [['5" pipe']]],
  ]
  for (const [text, rows] of cases) assert.deepEqual(fromTsv(text), rows, JSON.stringify(text))
})
