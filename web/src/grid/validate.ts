import { parseArray } from './arrays.ts'
import type { Column, Kind, Value } from './types.ts'

/** What PostgreSQL takes as integers of each width. */
const limits: Readonly<Record<string, readonly [bigint, bigint]>> = {
  int2: [-32768n, 32767n],
  smallint: [-32768n, 32767n],
  int4: [-2147483648n, 2147483647n],
  integer: [-2147483648n, 2147483647n],
  int8: [-9223372036854775808n, 9223372036854775807n],
  bigint: [-9223372036854775808n, 9223372036854775807n],
  oid: [0n, 4294967295n],
}

/**
 * Why a value cannot be stored, or null when nothing speaks against it. Only what is certain is refused
 * here: PostgreSQL has the last word.
 */
export function refuse(column: Column, value: Value | undefined, inserting: boolean): string | null {
  if (value === undefined) {
    return inserting && !column.nullable && column.default === undefined && !column.readonly
      ? `${column.name} needs a value`
      : null
  }
  if (value === null) return column.nullable ? null : `${column.name} may not be null`
  return refuseText(column.kind, column.type, value, column.enumValues, column.element)
}

export function refuseText(
  kind: Kind,
  type: string,
  value: string,
  enumValues?: readonly string[],
  element?: Column['element'],
): string | null {
  switch (kind) {
    case 'integer':
      return integer(type, value)
    case 'numeric':
    case 'float':
      return /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$|^\s*([-+]?inf(inity)?|nan)\s*$/i.test(value) ? null : `"${cut(value)}" is not a number`
    case 'boolean':
      return /^\s*(t|f|true|false|y|n|yes|no|on|off|1|0)\s*$/i.test(value) ? null : 'Write true or false'
    case 'json':
      return json(value)
    case 'enum':
      return enumValues && !enumValues.includes(value) ? `"${cut(value)}" is none of the values of ${type}` : null
    case 'uuid':
      return /^\s*\{?([0-9a-f]{4}-?){7}[0-9a-f]{4}\}?\s*$/i.test(value) ? null : 'A UUID has 32 hexadecimal digits'
    case 'bytea':
      return bytea(value)
    case 'array':
      return array(value, element)
    default:
      return value.includes('\0') ? 'PostgreSQL cannot store the character U+0000' : null
  }
}

function integer(type: string, value: string): string | null {
  const text = value.trim()
  if (!/^[-+]?\d+$/.test(text)) return `"${cut(value)}" is not a whole number`
  const limit = limits[type]
  if (!limit) return null
  const n = BigInt(text.replace(/^\+/, ''))
  return n < limit[0] || n > limit[1] ? `${type} holds ${limit[0]} to ${limit[1]}` : null
}

function json(value: string): string | null {
  try {
    JSON.parse(value)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : 'This is not JSON'
  }
}

function bytea(value: string): string | null {
  if (!value.startsWith('\\x')) return 'Write bytes as \\x and hexadecimal digits'
  const digits = value.slice(2)
  if (!/^[0-9a-f\s]*$/i.test(digits)) return 'Only hexadecimal digits may follow \\x'
  return digits.replace(/\s/g, '').length % 2 ? 'A hexadecimal digit is missing: two make a byte' : null
}

function array(value: string, element: Column['element']): string | null {
  const items = parseArray(value)
  if (items === null) return 'Write an array as {one,two}'
  if (!element || items === 'nested') return null
  for (const [i, item] of items.entries()) {
    const reason = item === null ? null : refuseText(element.kind, element.type, item, element.enumValues)
    if (reason) return `Element ${i + 1}: ${reason}`
  }
  return null
}

function cut(value: string): string {
  return value.length > 40 ? value.slice(0, 40) + '…' : value
}
