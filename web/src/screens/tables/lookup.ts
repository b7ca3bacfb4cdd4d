// Finds the rows that foreign keys may name.
import type { RelationBody } from '../../generated/admin.ts'
import { isNumber, kindOf } from '../../grid/kinds.ts'
import type { Choice, Lookup, Row } from '../../grid/types.ts'
import { quoted, restName } from '../../app/restname.ts'
import { columnsOf, referenceOf, unreadableBecause } from './relation.ts'
import { rows, type Parameters } from './rest.ts'

/** Rows offered, and columns shown of one. */
const offered = 30
const previewed = 8

const telling = ['name', 'title', 'label', 'email', 'username', 'slug', 'subject', 'code']

/** The column by which a person knows a row. */
function labelOf(relation: RelationBody): string | undefined {
  const texts = columnsOf(relation).filter(({ kind }) => kind === 'text').map(({ name }) => name)
  return telling.map((word) => texts.find((name) => name.toLowerCase() === word)).find(Boolean)
    ?? texts.find((name) => telling.some((word) => name.toLowerCase().includes(word))) ?? texts[0]
}

export function lookupIn(relation: RelationBody, all: readonly RelationBody[]): Lookup {
  return async (column, text, signal, exact) => {
    const reference = referenceOf(relation, column.name)
    const target = reference && all.find((one) => one.schema === reference.ref_schema && one.name === reference.ref_table)
    if (!target) return []
    const refused = unreadableBecause(target)
    if (refused) throw new Error(refused)
    const key = reference.ref_columns[0]!
    const label = labelOf(target)
    const kind = kindOf(target.columns.find(({ name }) => name === key)?.type ?? '', 'base')
    const names = [...new Set([key, ...(label ? [label] : []), ...target.columns.map(({ name }) => name)])].slice(0, previewed)
    const columns = names.map((name) => ({ name }))
    const more: Parameters = []
    if (exact) more.push([restName(key), `eq.${text}`], ['limit', '1'])
    else {
      const tests: string[] = []
      if (text !== '') {
        if (label) tests.push(`${restName(label)}.ilike.${quoted(`*${text.replace(/[\\%_]/g, '\\$&')}*`)}`)
        if (kind === 'text' && label !== key) tests.push(`${restName(key)}.ilike.${quoted(`*${text}*`)}`)
        if (isNumber(kind) && /^-?\d+$/.test(text) || kind === 'uuid' && /^[\da-f-]{36}$/i.test(text)) tests.push(`${restName(key)}.eq.${text}`)
        if (tests.length === 0) return []
        more.push(['or', `(${tests.join(',')})`])
      }
      more.push(['order', `${restName(label ?? key)}.asc`], ['limit', String(offered)])
    }
    const found = await rows(target.schema, target.name, columns, more, signal)
    return found.map((row) => choice(names, row, label))
  }
}

function choice(names: readonly string[], row: Row, label: string | undefined): Choice {
  const at = label === undefined ? 0 : names.indexOf(label)
  return { key: row[0] ?? '', label: row[at] ?? row[0] ?? '', preview: names.map((name, i) => [name, row[i] ?? null] as const) }
}
