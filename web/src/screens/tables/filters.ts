// Conditions on rows: which there are for a kind of column, how they stand in the address, and what they are in REST.
import { quoted, restName } from '../../app/restname.ts'
import type { Column, Kind } from '../../grid/types.ts'

export interface Filter {
  column: string
  op: Operator
  value: string
}

export type Operator = 'eq' | 'neq' | 'gt' | 'gte' | 'lt' | 'lte' | 'in' | 'contains' | 'starts' | 'match' | 'true' | 'false' | 'null' | 'notnull' | 'cs' | 'cd' | 'ov' | 'fts'

export const operators: Readonly<Record<Operator, { label: string, bare?: boolean }>> = {
  eq: { label: 'is' },
  neq: { label: 'is not' },
  gt: { label: 'is greater than' },
  gte: { label: 'is at least' },
  lt: { label: 'is less than' },
  lte: { label: 'is at most' },
  in: { label: 'is one of' },
  contains: { label: 'contains' },
  starts: { label: 'begins with' },
  match: { label: 'matches the pattern' },
  true: { label: 'is true', bare: true },
  false: { label: 'is false', bare: true },
  null: { label: 'is NULL', bare: true },
  notnull: { label: 'is not NULL', bare: true },
  cs: { label: 'contains' },
  cd: { label: 'is within' },
  ov: { label: 'shares with' },
  fts: { label: 'finds the words' },
}

const ordered: readonly Operator[] = ['eq', 'neq', 'gt', 'gte', 'lt', 'lte', 'in', 'null', 'notnull']
const byKind: Readonly<Record<Kind, readonly Operator[]>> = {
  text: ['contains', 'eq', 'neq', 'starts', 'match', 'in', 'gt', 'lt', 'null', 'notnull'],
  integer: ordered,
  numeric: ordered,
  float: ordered,
  date: ordered,
  time: ordered,
  timestamp: ordered,
  boolean: ['true', 'false', 'null', 'notnull'],
  enum: ['eq', 'neq', 'in', 'null', 'notnull'],
  uuid: ['eq', 'neq', 'in', 'null', 'notnull'],
  json: ['cs', 'null', 'notnull'],
  array: ['cs', 'cd', 'ov', 'eq', 'neq', 'null', 'notnull'],
  bytea: ['eq', 'null', 'notnull'],
  other: ['eq', 'neq', 'null', 'notnull'],
}

/** The conditions that a column can be put under, the likeliest first. */
export function operatorsOf(column: Column): readonly Operator[] {
  if (column.type === 'tsvector') return ['fts', 'null', 'notnull']
  if (column.type === 'json') return ['null', 'notnull'] // it has no operators
  return byKind[column.kind]
}

/** A name as a part of a text in which dots, commas and colons separate. */
export function encodeName(name: string): string {
  return encodeURIComponent(name).replaceAll('.', '%2E')
}

export function decodeName(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** How a filter stands in the dashboard's address. */
export function encodeFilter({ column, op, value }: Filter): string {
  return `${encodeName(column)}.${op}.${value}`
}

export function decodeFilter(text: string): Filter | undefined {
  const found = /^([^.]*)\.(\w+)\.([^]*)$/.exec(text)
  if (!found || !Object.hasOwn(operators, found[2]!)) return undefined
  return { column: decodeName(found[1]!), op: found[2] as Operator, value: found[3]! }
}

function list(text: string): string[] {
  return text.split(',').map((one) => one.trim()).filter((one) => one !== '')
}

/** The operator and the value that a filter is in REST. */
export function restCondition({ op, value }: Filter): string {
  switch (op) {
    case 'in': return `in.(${list(value).map(quoted).join(',')})`
    case 'contains': return value.includes('*') ? `imatch.${escapePattern(value)}` : `ilike.*${escapeLike(value)}*`
    case 'starts': return value.includes('*') ? `match.^${escapePattern(value)}` : `like.${escapeLike(value)}*`
    case 'true': return 'is.true'
    case 'false': return 'is.false'
    case 'null': return 'is.null'
    case 'notnull': return 'not.is.null'
    case 'fts': return `wfts.${value}`
    default: return `${op}.${value}`
  }
}

// In REST * stands for %, and nothing makes it stand for itself: texts with one are sought by a regular expression.
function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

/** The filter as a call of supabase-js. */
export function sdkCall(filter: Filter): string {
  const [, not, op, value] = /^(not\.)?(\w+)\.([^]*)$/.exec(restCondition(filter))!
  const name = JSON.stringify(restName(filter.column))
  if (op === 'is') return not ? `.not(${name}, 'is', ${value})` : `.is(${name}, ${value})`
  if (filter.op === 'in') return `.in(${name}, ${JSON.stringify(list(filter.value))})`
  if (op === 'like' || op === 'ilike') return `.${op}(${name}, ${JSON.stringify(value!.replaceAll('*', '%'))})`
  if (['eq', 'neq', 'gt', 'gte', 'lt', 'lte'].includes(op!)) return `.${op}(${name}, ${JSON.stringify(value)})`
  return `.filter(${name}, '${op}', ${JSON.stringify(value)})`
}
