// What the screens of the structure make of the catalog, and the form that is open in them.
import { isPlatform } from '../../app/catalog.ts'
import { router } from '../../app/router.svelte.ts'
import type { ColumnDraft } from '../../ddl/column.ts'
import { builtIn, type TypeChoice } from '../../ddl/pgtypes.ts'
import { qualified } from '../../ddl/quote.ts'
import type { CatalogBody, ColumnBody, RelationBody } from '../../generated/admin.ts'

/** The types to choose from: PostgreSQL's own, then the enums of this database. */
export function typeChoices(body: CatalogBody): TypeChoice[] {
  const enums = body.enums.map((each) => ({ value: qualified(each), hint: `enum: ${each.values.slice(0, 4).join(', ')}${each.values.length > 4 ? '…' : ''}` }))
  return [...enums.filter(({ value }) => !isPlatform(value.split('.')[0]!)), ...builtIn, ...enums.filter(({ value }) => isPlatform(value.split('.')[0]!))]
}

export function draftOf(column: ColumnBody): ColumnDraft {
  return {
    name: column.name,
    type: column.type,
    notNull: column.not_null,
    default: column.default ?? '',
    identity: column.identity as ColumnDraft['identity'],
    generated: column.generated ?? '',
    comment: column.comment,
  }
}

/** Whether an index begins with the columns, in whatever order. */
export function isIndexed(relation: RelationBody, columns: readonly string[]): boolean {
  return relation.indexes.some((index) => {
    const found = /\((.*?)\)/.exec(index.definition.slice(index.definition.indexOf(' USING ')))
    const first = (found?.[1] ?? '').split(',').slice(0, columns.length).map((part) => part.trim().replace(/^"|"$/g, '').replaceAll('""', '"'))
    return columns.every((column) => first.includes(column)) && !/ WHERE /.test(index.definition)
  })
}

/** Whether a valid check says already that a column is not null. */
export function isChecked(relation: RelationBody, column: string): boolean {
  return relation.checks.some((check) => check.valid && check.columns.length === 1 && check.columns[0] === column && /^CHECK \(\(\S+ IS NOT NULL\)\)$/i.test(check.definition))
}

interface Doing { what: string, of: string }

/** The form that is open, by the address. */
export function doing(): Doing {
  return { what: router.query.get('do') ?? '', of: router.query.get('of') ?? '' }
}

export function begin(what: string, of = ''): void {
  router.setQuery({ do: what, of })
}

export function end(): void {
  router.setQuery({ do: null, of: null }, { replace: true })
}
