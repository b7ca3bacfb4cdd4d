// A result as the grid takes it, sorted, and as a file.
import { kindOf, isNumber } from '../../grid/kinds.ts'
import type { Column, Row, Sort, Value } from '../../grid/types.ts'
import type { SQLColumn } from '../../generated/admin.ts'

/** The columns for the grid. Names that occur twice are told apart by a number. */
export function gridColumns(columns: readonly SQLColumn[]): Column[] {
  const taken = new Set<string>()
  return columns.map(({ name, type, schema, table, source }) => {
    let own = name
    for (let i = 2; taken.has(own); i++) own = `${name} (${i})`
    taken.add(own)
    return { name: own, type, kind: kindOf(type, ''), nullable: true, readonly: true, ...(table ? { comment: `${schema}.${table}.${source}` } : {}) }
  })
}

/** Compares numbers by their digits: none is rounded. */
function compareNumbers(a: string, b: string): number {
  const exact = /^(-?)0*(\d*)(?:\.(\d*))?$/
  const [x, y] = [exact.exec(a), exact.exec(b)]
  if (!x || !y) { // NaN, Infinity, 1e300
    const [m, n] = [Number(a), Number(b)]
    return Number.isNaN(m) ? (Number.isNaN(n) ? 0 : 1) : Number.isNaN(n) ? -1 : m - n
  }
  const sign = (found: RegExpExecArray) => found[1] === '-' ? -1 : 1
  if (sign(x) !== sign(y)) return sign(x)
  const [long, short] = [x[2]!.length - y[2]!.length, x[2]! < y[2]! ? -1 : x[2]! > y[2]! ? 1 : 0]
  const [p, q] = [(x[3] ?? '').replace(/0+$/, ''), (y[3] ?? '').replace(/0+$/, '')]
  return sign(x) * (long || short || (p < q ? -1 : p > q ? 1 : 0))
}

/** The rows in another order: as PostgreSQL would for numbers, by their text for the rest; nulls last, as there. */
export function sorted(rows: readonly Row[], columns: readonly Column[], sort: readonly Sort[]): readonly Row[] {
  const by = sort.flatMap(({ column, descending }) => {
    const at = columns.findIndex(({ name }) => name === column)
    return at < 0 ? [] : [{ at, sign: descending ? -1 : 1, number: isNumber(columns[at]!.kind) }]
  })
  if (by.length === 0) return rows
  const text = new Intl.Collator()
  return rows.toSorted((a, b) => {
    for (const { at, sign, number } of by) {
      const [x, y] = [a[at] ?? null, b[at] ?? null]
      if (x === y) continue
      if (x === null) return sign
      if (y === null) return -sign
      const order = number ? compareNumbers(x, y) : text.compare(x, y)
      if (order !== 0) return sign * order
    }
    return 0
  })
}

/** The result as CSV (RFC 4180): null is an empty field, the empty text is `""`. */
export function csv(columns: readonly Column[], rows: readonly Row[]): string {
  const field = (value: Value) => value === null ? '' : value === '' || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
  return [columns.map(({ name }) => name), ...rows].map((row) => row.map(field).join(',') + '\r\n').join('')
}

/** The result as JSON: an object for each row. Numbers are written digit by digit as PostgreSQL has them. */
export function json(columns: readonly Column[], rows: readonly Row[]): string {
  const names = columns.map(({ name }) => JSON.stringify(name))
  const write = (value: Value, { kind }: Column): string => {
    if (value === null) return 'null'
    if (isNumber(kind) && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value)) return value
    if (kind === 'boolean' && (value === 't' || value === 'f')) return value === 't' ? 'true' : 'false'
    return kind === 'json' ? value : JSON.stringify(value)
  }
  const lines = rows.map((row) => `  {${columns.map((column, i) => `${names[i]}: ${write(row[i] ?? null, column)}`).join(', ')}}`)
  return lines.length === 0 ? '[]\n' : `[\n${lines.join(',\n')}\n]\n`
}
