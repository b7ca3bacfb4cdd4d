// Creates and drops indexes.
import { onTable, type Plan } from './plan.ts'
import { ident, qualified, type Name } from './quote.ts'

export const methods = ['btree', 'gin', 'gist', 'brin', 'hash', 'spgist'] as const

/** A column, or an expression in place of it. */
export interface IndexPart { column: string, expression: string, descending: boolean, nulls: '' | 'first' | 'last', operators: string }

export interface IndexDraft {
  name: string
  method: (typeof methods)[number]
  parts: readonly IndexPart[]
  include: readonly string[]
  unique: boolean
  /** Only rows for which it is true are in the index. */
  where: string
  concurrently: boolean
}

export const newPart: IndexPart = { column: '', expression: '', descending: false, nulls: '', operators: '' }

function part({ column, expression, descending, nulls, operators }: IndexPart, ordered: boolean): string {
  return [
    expression.trim() ? `(${expression.trim()})` : ident(column),
    operators.trim(),
    ordered && descending && 'desc',
    ordered && nulls && `nulls ${nulls}`,
  ].filter(Boolean).join(' ')
}

/** An index on a table. Partitioned tables take none concurrently. */
export function createIndex(table: Name, draft: IndexDraft, partitioned = false): Plan {
  const sql = (concurrently: boolean) => [
    `create ${draft.unique ? 'unique ' : ''}index ${concurrently ? 'concurrently ' : ''}${draft.name ? `${ident(draft.name)} ` : ''}on ${qualified(table)}`,
    `${draft.method === 'btree' ? '' : `using ${draft.method} `}(${draft.parts.map((each) => part(each, draft.method === 'btree')).join(', ')})`,
    draft.include.length > 0 && `include (${draft.include.map(ident).join(', ')})`,
    draft.where.trim() && `where ${draft.where.trim()}`,
  ].filter(Boolean).join('\n')
  const slow: Plan = {
    alone: true,
    statements: [onTable(sql(true), table, 'SHARE UPDATE EXCLUSIVE', 'index', 'The rows are read twice, and transactions that run now are waited for. If it fails, an invalid index stays: drop it and try again.')],
  }
  if (draft.concurrently && !partitioned) return slow
  return {
    statements: [onTable(sql(false), table, 'SHARE', 'index')],
    ...partitioned ? {} : {
      safer: { label: 'Build it concurrently', why: 'Takes longer, but writes go on meanwhile. It runs by itself, outside of a transaction.', plan: slow },
    },
  }
}

/** Drops an index of a table; of a partitioned one not concurrently. */
export function dropIndex(table: Name, name: string, partitioned = false): Plan {
  const index = qualified({ schema: table.schema, name })
  return {
    statements: [onTable(`drop index ${index}`, table)],
    ...partitioned ? {} : {
      safer: {
        label: 'Drop it concurrently',
        why: 'Waits for those who use the table in place of making others wait. It runs by itself, outside of a transaction.',
        plan: { alone: true, statements: [onTable(`drop index concurrently ${index}`, table, 'SHARE UPDATE EXCLUSIVE')] },
      },
    },
  }
}

/** Builds an index anew: one that is invalid, or swollen. */
export function rebuildIndex(table: Name, name: string): Plan {
  return { alone: true, statements: [onTable(`reindex index concurrently ${qualified({ schema: table.schema, name })}`, table, 'SHARE UPDATE EXCLUSIVE', 'index')] }
}

export function renameIndex(table: Name, name: string, to: string): Plan {
  return { statements: [onTable(`alter index ${qualified({ schema: table.schema, name })}\nrename to ${ident(to)}`, table, 'SHARE UPDATE EXCLUSIVE')] }
}
