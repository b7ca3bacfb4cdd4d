// Reads the beginning of a file to import, to show what is in it. The server reads the whole.
import { fromTsv } from '../../grid/clipboard.ts'
import type { Column, Value } from '../../grid/types.ts'

export type Format = 'csv' | 'json' | 'ndjson'

export const types: Readonly<Record<Format, string>> = { csv: 'text/csv', json: 'application/json', ndjson: 'application/x-ndjson' }

export type Delimiter = ',' | ';' | '\t'

/** What is before the fraction of a number. */
export type Decimal = '.' | ','

export interface Preview {
  fields: string[]
  rows: Value[][]
}

/** Characters read for a preview, and rows shown. */
export const previewed = 256 * 1024
const shown = 8
/** Rows that tell what the decimal sign is. */
const judged = 1000

/** What a file seems to be by its name and its beginning. */
export function formatOf(name: string, text: string): Format {
  const end = /\.(csv|tsv|json|ndjson|jsonl)$/i.exec(name)?.[1]?.toLowerCase()
  if (end === 'ndjson' || end === 'jsonl') return 'ndjson'
  if (end === 'json') return 'json'
  if (end === undefined) {
    const start = text.trimStart()
    if (start.startsWith('[{') || /^\[\s*\{/.test(start)) return 'json'
    if (start.startsWith('{')) return 'ndjson'
  }
  return 'csv'
}

/** What seems to be between the fields of CSV: what parts the first line, and those after it into as many. */
export function delimiterOf(text: string): Delimiter {
  let best: Delimiter = ','
  let most = 0
  for (const delimiter of [',', ';', '\t'] as const) {
    const [head = [], ...rows] = csvRows(text.replace(/^\ufeff/, ''), delimiter, shown + 1)
    const alike = rows.length === 0 ? 1 : rows.filter((row) => row.length === head.length).length / rows.length
    const found = head.length > 1 ? alike + head.length / 10_000 : 0
    if (found > most) [best, most] = [delimiter, found]
  }
  return best
}

/** Cells of a spreadsheet as CSV. */
export function tabsToCSV(text: string): string {
  return fromTsv(text).map((row) => row.map((value) => value === null ? '' : `"${value.replaceAll('"', '""')}"`).join(',')).join('\n') + '\n'
}

/** Rows of CSV (RFC 4180, but for the delimiter): an empty field is null, one in quotes is text. */
function csvRows(text: string, delimiter: Delimiter, most: number): Value[][] {
  const rows: Value[][] = []
  let row: Value[] = []
  const field = new RegExp(`(?:"((?:[^"]|"")*)"|([^"${delimiter}\\r\\n]*))(${delimiter}|\\r\\n|\\n|\\r|$)`, 'y')
  while (rows.length < most && field.lastIndex < text.length) {
    const at = field.lastIndex
    const found = field.exec(text)
    if (!found) {
      // A quote within a field: it is text like any other.
      const end = text.slice(at).search(new RegExp(`[${delimiter}\\r\\n]`))
      row.push(end < 0 ? text.slice(at) : text.slice(at, at + end))
      field.lastIndex = end < 0 ? text.length : at + end + 1
      if (end >= 0 && text[at + end] === delimiter) continue
    } else {
      row.push(found[1] !== undefined ? found[1].replaceAll('""', '"') : found[2] === '' ? null : found[2]!)
      if (found[3] === delimiter) {
        if (field.lastIndex >= text.length) row.push(null)
        else continue
      }
    }
    if (row.length > 1 || row[0] !== null) rows.push(row)
    row = []
  }
  if (row.length > 0) rows.push(row)
  return rows
}

/** The texts of the objects that a text begins with, one after the other or in an array. */
function objects(text: string, most: number): string[] {
  const found: string[] = []
  let depth = 0
  let from = 0
  let quoted = false
  for (let at = 0; at < text.length && found.length < most; at++) {
    const c = text[at]
    if (quoted) {
      if (c === '\\') at++
      else if (c === '"') quoted = false
    } else if (c === '"') quoted = true
    else if (c === '{') {
      if (depth++ === 0) from = at
    } else if (c === '}' && --depth === 0) found.push(text.slice(from, at + 1))
  }
  return found
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    // Numbers as they are written: they may have more digits than a float.
    const reviver = (_: string, value: unknown, context?: { source?: string }) => typeof value === 'number' ? context?.source ?? String(value) : value
    return JSON.parse(text, reviver as (this: unknown, key: string, value: unknown) => unknown) as Record<string, unknown>
  } catch {
    return undefined
  }
}

/** The first rows of a text. */
export function preview(text: string, format: Format, delimiter: Delimiter, most = shown): Preview {
  if (format === 'csv') {
    const [head = [], ...rows] = csvRows(text.replace(/^\ufeff/, ''), delimiter, most + 1)
    return { fields: head.map((name) => name ?? ''), rows }
  }
  const parsed = objects(text, most).map(parse).filter((one) => one !== undefined)
  const fields = [...new Set(parsed.flatMap((one) => Object.keys(one)))]
  return { fields, rows: parsed.map((one) => fields.map((field) => {
    const value = Object.hasOwn(one, field) ? one[field] : null
    return value === null || value === undefined ? null : typeof value === 'object' ? JSON.stringify(value) : String(value)
  })) }
}

/** Whether the values of a column are numbers, as the server has it. */
export function isNumber({ type }: Column): boolean {
  return /^(smallint|integer|bigint|numeric(\([\d,-]+\))?|real|double precision)$/.test(type)
}

/** A number with a decimal comma as PostgreSQL reads it, undefined for what the server refuses with one. */
export function pointNumber(text: string): string | undefined {
  if (!/[.,]/.test(text)) return text
  const number = /^\s*[+-]?([1-9]\d{0,2}(\.\d{3})+(,\d*)?|\d*(,\d*)?([eE][+-]?\d+)?)\s*$/
  return number.test(text) ? text.replaceAll('.', '').replace(',', '.') : undefined
}

/** The values of a text that have a decimal sign or one between thousands, in fields that go to columns of numbers. */
export function signedNumbers(text: string, delimiter: Delimiter, columns: readonly Column[], mapping: Readonly<Record<string, string>>): string[] {
  const { fields, rows } = preview(text, 'csv', delimiter, judged)
  const numbers = new Set(columns.filter(isNumber).map(({ name }) => name))
  const at = fields.flatMap((field, i) => numbers.has(mapping[field] ?? '') ? [i] : [])
  return rows.flatMap((row) => at.map((i) => row[i] ?? '')).filter((value) => /\d/.test(value) && /[.,]/.test(value))
}

/** What seems to be the decimal sign: a comma only where it does not part the fields, and where all numbers allow it. */
export function decimalOf(delimiter: Delimiter, numbers: readonly string[]): Decimal {
  const comma = delimiter !== ',' && numbers.some((value) => value.includes(',')) && numbers.every((value) => pointNumber(value) !== undefined)
  return comma ? ',' : '.'
}
