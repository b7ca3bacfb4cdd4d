import type { Kind } from './types.ts'

const byType: Readonly<Record<string, Kind>> = {
  int2: 'integer',
  int4: 'integer',
  int8: 'integer',
  smallint: 'integer',
  integer: 'integer',
  bigint: 'integer',
  oid: 'integer',
  numeric: 'numeric',
  decimal: 'numeric',
  float4: 'float',
  float8: 'float',
  real: 'float',
  'double precision': 'float',
  bool: 'boolean',
  boolean: 'boolean',
  json: 'json',
  jsonb: 'json',
  date: 'date',
  time: 'time',
  timetz: 'time',
  'time without time zone': 'time',
  'time with time zone': 'time',
  timestamp: 'timestamp',
  timestamptz: 'timestamp',
  'timestamp without time zone': 'timestamp',
  'timestamp with time zone': 'timestamp',
  uuid: 'uuid',
  bytea: 'bytea',
  text: 'text',
  varchar: 'text',
  'character varying': 'text',
  bpchar: 'text',
  char: 'text',
  character: 'text',
  citext: 'text',
  name: 'text',
  xml: 'text',
}

/** The kind of a column from the catalog's words for its type. Type modifiers such as `(10,2)` are ignored. */
export function kindOf(type: string, typeKind: string): Kind {
  if (typeKind === 'array' || type.endsWith('[]')) return 'array'
  if (typeKind === 'enum') return 'enum'
  return byType[type.replace(/\([^)]*\)/, '').trim().toLowerCase()] ?? 'other'
}

/** Kinds whose digits line up: set in a monospace font at the right. */
export function isNumber(kind: Kind): boolean {
  return kind === 'integer' || kind === 'numeric' || kind === 'float'
}

/** Kinds set in a monospace font. */
export function isMono(kind: Kind): boolean {
  return isNumber(kind) || ['json', 'array', 'date', 'time', 'timestamp', 'uuid', 'bytea'].includes(kind)
}

/** Kinds in which the empty string is a value; elsewhere an emptied field means null. */
export function allowsEmpty(kind: Kind): boolean {
  return kind === 'text' || kind === 'other'
}
