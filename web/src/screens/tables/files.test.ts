import assert from 'node:assert/strict'
import { test } from 'node:test'
import { delimiterOf, preview } from './files.ts'

test('what is between the fields of CSV is told by its first lines', () => {
  for (const [text, delimiter] of [
    ['title,done\na;b,true\n', ','],
    ['\ufefftitle;done;price\r\nfood;true;2,50\r\n', ';'],
    ['title;done\n"a;b";true\n', ';'],
    ['title\tnote\na\tone, two\n', '\t'],
    ['title;size, in m\na;1\nb;2\n', ';'],
    ['title\na,b\n', ','],
    ['a;b', ';'],
    ['', ','],
  ] as const) assert.equal(delimiterOf(text), delimiter, text)
})

test('a preview has the fields that the delimiter parts', () => {
  assert.deepEqual(preview('title;price\n"a;""b""";2,50\nc;\n', 'csv', ';'), { fields: ['title', 'price'], rows: [['a;"b"', '2,50'], ['c', null]] })
  assert.deepEqual(preview('title\tprice\n5" pipe\t1\n', 'csv', '\t'), { fields: ['title', 'price'], rows: [['5" pipe', '1']] })
})
