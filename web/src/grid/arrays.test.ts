import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatArray, parseArray } from './arrays.ts'

test("arrays are read as PostgreSQL writes them", () => {
  const cases: [string, ReturnType<typeof parseArray>][] = [
    ['{}', []],
    ['{1,2,3}', ['1', '2', '3']],
    ['{NULL,"NULL",null}', [null, 'NULL', null]],
    ['{"",a}', ['', 'a']],
    ['{"a,b","c\\"d","e\\\\f"}', ['a,b', 'c"d', 'e\\f']],
    ['{ a , "b" }', ['a', 'b']],
    ['{two words}', ['two words']],
    ['{{1,2},{3,4}}', 'nested'],
    ['[0:1]={1,2}', 'nested'],
    ['{a', null],
    ['a,b', null],
    ['{a,}', null],
    ['{"a"b}', null],
    ['{a}}', null],
    ['', null],
  ]
  for (const [text, items] of cases) assert.deepEqual(parseArray(text), items, text)
})

test('an array written and read again is the same', () => {
  const items = ['plain', '', null, 'NULL', 'a,b', '{x}', 'q"uote', 'back\\slash', ' space ', 'line\nbreak']
  assert.deepEqual(parseArray(formatArray(items)), items)
})
