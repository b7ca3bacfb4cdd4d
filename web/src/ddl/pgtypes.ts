// The types that the picker offers, and what PostgreSQL must do to change one into another.

export interface TypeChoice { value: string, hint: string }

/** The built-in types that tables are made of, the commonest first. */
export const builtIn: readonly TypeChoice[] = [
  { value: 'text', hint: 'words of any length' },
  { value: 'bigint', hint: 'whole number, 8 bytes' },
  { value: 'integer', hint: 'whole number, 4 bytes' },
  { value: 'boolean', hint: 'true or false' },
  { value: 'uuid', hint: 'random identifier' },
  { value: 'timestamptz', hint: 'moment in time' },
  { value: 'date', hint: 'day' },
  { value: 'jsonb', hint: 'JSON, searchable' },
  { value: 'numeric', hint: 'exact decimal, for money' },
  { value: 'numeric(10,2)', hint: 'exact, two decimals' },
  { value: 'double precision', hint: 'inexact number, 8 bytes' },
  { value: 'real', hint: 'inexact number, 4 bytes' },
  { value: 'smallint', hint: 'whole number, 2 bytes' },
  { value: 'varchar(255)', hint: 'words of limited length' },
  { value: 'char(1)', hint: 'fixed length, padded' },
  { value: 'timestamp', hint: 'day and time without a zone' },
  { value: 'time', hint: 'time of day' },
  { value: 'timetz', hint: 'time of day with a zone' },
  { value: 'interval', hint: 'length of time' },
  { value: 'json', hint: 'JSON, kept as written' },
  { value: 'bytea', hint: 'bytes' },
  { value: 'text[]', hint: 'list of texts' },
  { value: 'integer[]', hint: 'list of numbers' },
  { value: 'uuid[]', hint: 'list of identifiers' },
  { value: 'inet', hint: 'IP address' },
  { value: 'cidr', hint: 'IP network' },
  { value: 'macaddr', hint: 'MAC address' },
  { value: 'int4range', hint: 'range of integers' },
  { value: 'int8range', hint: 'range of bigints' },
  { value: 'numrange', hint: 'range of numerics' },
  { value: 'daterange', hint: 'range of days' },
  { value: 'tstzrange', hint: 'range of moments' },
  { value: 'tsvector', hint: 'text for full-text search' },
  { value: 'point', hint: 'point in a plane' },
  { value: 'xml', hint: 'XML' },
  { value: 'money', hint: 'amount in the currency of the server' },
  { value: 'bit(8)', hint: 'bits' },
]

const aliases: Record<string, string> = {
  int: 'integer', int4: 'integer', int8: 'bigint', int2: 'smallint', bool: 'boolean', float8: 'double precision', float: 'double precision',
  float4: 'real', decimal: 'numeric', varchar: 'character varying', char: 'character', timestamptz: 'timestamp with time zone',
  timestamp: 'timestamp without time zone', timetz: 'time with time zone', time: 'time without time zone', varbit: 'bit varying',
}

interface Parts { base: string, modifier: number[], array: boolean }

function parts(type: string): Parts {
  const low = type.trim().toLowerCase().replace(/\s+/g, ' ')
  const array = low.endsWith('[]')
  const found = /^(.*?)\s*\(([\d\s,]+)\)(.*)$/.exec(array ? low.slice(0, -2) : low)
  const bare = (found ? found[1]! + found[3]! : array ? low.slice(0, -2) : low).trim()
  return { base: aliases[bare] ?? bare, modifier: found ? found[2]!.split(',').map((part) => Number(part.trim())) : [], array }
}

/** Tells whether two spellings name the same type. */
export function sameType(a: string, b: string): boolean {
  if (a.includes('"') || b.includes('"')) return a.trim() === b.trim()
  return JSON.stringify(parts(a)) === JSON.stringify(parts(b))
}

/** Tells whether the values stay as they are stored when the type changes: the table is not written anew. */
export function keepsRows(from: string, to: string): boolean {
  if (sameType(from, to)) return true
  if (from.includes('"') || to.includes('"')) return false
  const [a, b] = [parts(from), parts(to)]
  if (a.array !== b.array) return false
  const grows = (n: number) => b.modifier.length === 0 || a.modifier.length > 0 && b.modifier[n]! >= a.modifier[n]!
  if (a.base === 'character varying' || a.base === 'text') {
    if (b.base === 'text') return true
    return b.base === 'character varying' && grows(0)
  }
  if (a.base !== b.base) return a.base === 'cidr' && b.base === 'inet'
  switch (a.base) {
    case 'numeric': return b.modifier.length === 0 || a.modifier.length > 0 && (a.modifier[1] ?? 0) === (b.modifier[1] ?? 0) && grows(0)
    case 'bit varying':
    case 'timestamp with time zone':
    case 'timestamp without time zone':
    case 'time with time zone':
    case 'time without time zone':
    case 'interval': return grows(0)
  }
  return false
}

const numbers = ['smallint', 'integer', 'bigint', 'numeric', 'real', 'double precision']
const texts = ['character', 'character varying', 'text']
const moments = ['timestamp without time zone', 'timestamp with time zone', 'date']

/** Tells whether PostgreSQL converts by itself, without USING (assignment casts). */
export function castsItself(from: string, to: string): boolean {
  const [a, b] = [parts(from), parts(to)]
  if (a.array !== b.array) return false
  if (a.base === b.base || texts.includes(b.base)) return true
  return [numbers, moments].some((family) => family.includes(a.base) && family.includes(b.base))
}

// Functions whose answer is one for the whole statement: stored once, no row is touched.
const stable = new Set(['now', 'transaction_timestamp', 'statement_timestamp', 'current_setting', 'current_schema', 'timezone', 'date_trunc', 'to_timestamp', 'make_date', 'lower', 'upper', 'concat', 'coalesce', 'jsonb_build_object', 'jsonb_build_array', 'array', 'interval', 'numeric', 'varchar', 'character', 'char', 'timestamp'])

/** Tells whether a default differs from row to row, as far as can be told: what is not known counts as if it did. */
export function volatile(expression: string): boolean {
  const bare = expression.replace(/'(?:[^']|'')*'/g, "''").replace(/"(?:[^"]|"")*"/g, 'x')
  for (const [, name] of bare.matchAll(/([\w.]+)\s*\(/g)) {
    if (!stable.has(name!.toLowerCase().replace(/^(pg_catalog|public)\./, ''))) return true
  }
  return false
}
