import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decimalOf, delimiterOf, pointNumber, preview } from './files.ts'

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

test('a number with a decimal comma keeps its digits, and one with a decimal point is none', () => {
  for (const [text, read] of [
    ['2,50', '2.50'], ['-1.234,50', '-1234.50'], ['1.234', '1234'], [',5', '.5'], ['1,5e-3', '1.5e-3'], ['7', '7'], ['NaN', 'NaN'],
    ['0,10000000000000000000000000000000001', '0.10000000000000000000000000000000001'],
    ['1.5', undefined], ['0.123', undefined], ['1234.567', undefined], ['1,234.50', undefined], ['1,2,3', undefined], ['1.234e5', undefined], ['a,5', undefined],
  ] as const) assert.equal(pointNumber(text), read, text)
})

test('the decimal sign is a comma where no number speaks against it', () => {
  for (const [delimiter, numbers, sign] of [
    [';', ['2,50', '1.234,50', '1.234'], ','],
    ['\t', ['2,50'], ','],
    [';', ['2,50', '1.5'], '.'],
    [';', ['1.234'], '.'],
    [',', ['2,50'], '.'],
    [';', [], '.'],
  ] as const) assert.equal(decimalOf(delimiter, numbers), sign, numbers.join(' '))
})
