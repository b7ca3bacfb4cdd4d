// An index that is missing, as a change of the structure.
import { findRelation } from '../../app/catalog.ts'
import { createIndex, newPart } from '../../ddl/indexes.ts'
import type { Plan } from '../../ddl/plan.ts'
import type { CatalogBody } from '../../generated/admin.ts'

export interface MissingIndex { schema: string, table: string, columns: readonly string[] }

/** The change that makes it, without making anybody wait where that is possible. */
export function makeMissing({ schema, table, columns }: MissingIndex, body: CatalogBody): Plan {
  const name = { schema, name: table }
  const parts = columns.map((column) => ({ ...newPart, column }))
  return createIndex(name, { name: '', method: 'btree', parts, include: [], unique: false, where: '', concurrently: true }, findRelation(body, name)?.kind === 'partitioned_table')
}
