import type { Value } from './types.ts'

/**
 * Tab-separated text as spreadsheets write it: fields with a tab, a line end or a quote are quoted, quotes
 * are doubled. Null is an empty field and the empty string is `""`, so that a copy pasted back is the same.
 */
export function toTsv(rows: readonly (readonly Value[])[]): string {
  return rows.map((row) => row.map(field).join('\t')).join('\n')
}

function field(value: Value): string {
  if (value === null) return ''
  if (value === '') return '""'
  return /[\t\n\r"]/.test(value) ? '"' + value.replaceAll('"', '""') + '"' : value
}

/** Reads what `toTsv` and spreadsheets write. A last line end adds no row. Rows may differ in length. */
export function fromTsv(text: string): Value[][] {
  const rows: Value[][] = []
  let row: Value[] = []
  let at = 0
  while (at <= text.length) {
    let value: Value
    if (text[at] === '"') {
      const end = closingQuote(text, at + 1)
      const after = text[end + 1]
      // A quote that does not end its field is no quoting: a cell may begin with a quoted word.
      if (end >= 0 && (after === undefined || after === '\t' || after === '\n' || after === '\r')) {
        value = text.slice(at + 1, end).replaceAll('""', '"')
        at = end + 1
      } else {
        ;[value, at] = bare(text, at)
      }
    } else {
      ;[value, at] = bare(text, at)
      if (value === '') value = null
    }
    row.push(value)
    if (text[at] === '\t') {
      at++
      continue
    }
    rows.push(row)
    row = []
    if (text[at] === '\r' && text[at + 1] === '\n') at++
    at++
    if (at >= text.length) break
  }
  return rows
}

function closingQuote(text: string, from: number): number {
  for (let at = from; ; at += 2) {
    at = text.indexOf('"', at)
    if (at < 0 || text[at + 1] !== '"') return at
  }
}

function bare(text: string, from: number): [string, number] {
  let at = from
  while (at < text.length && text[at] !== '\t' && text[at] !== '\n' && text[at] !== '\r') at++
  return [text.slice(from, at), at]
}
