// What the catalog says, as the screens of the structure need it.
import { api } from '../../app/api.ts'
import type { Wanted } from '../../app/query.svelte.ts'
import { router } from '../../app/router.svelte.ts'
import type { ColumnDraft } from '../../ddl/column.ts'
import type { IndexPart } from '../../ddl/indexes.ts'
import { builtIn, type TypeChoice } from '../../ddl/pgtypes.ts'
import { qualified, type Name } from '../../ddl/quote.ts'
import type { CatalogBody, ColumnBody, RelationBody } from '../../generated/admin.ts'
import type { IconName } from '../../kit/icons.ts'

export const catalog: Wanted<CatalogBody> = { key: ['catalog'], read: (signal) => api.get<CatalogBody>('/catalog', { signal }) }

export function relationsOf(body: CatalogBody): RelationBody[] {
  return body.relations.filter((relation) => relation !== null)
}

export function findRelation(body: CatalogBody, { schema, name }: Name): RelationBody | undefined {
  return relationsOf(body).find((relation) => relation.schema === schema && relation.name === name)
}

export const kinds: Readonly<Record<string, { label: string, icon: IconName }>> = {
  table: { label: 'table', icon: 'table-2' },
  partitioned_table: { label: 'partitioned table', icon: 'layers' },
  view: { label: 'view', icon: 'view' },
  materialized_view: { label: 'materialized view', icon: 'database-zap' },
  foreign_table: { label: 'foreign table', icon: 'globe' },
}

export function isView(relation: RelationBody): boolean {
  return relation.kind === 'view' || relation.kind === 'materialized_view'
}

/** The schemas that Supabase's own parts live in: their structure is not for apps to change. */
const platform = new Set(['auth', 'storage', 'realtime', 'extensions', 'graphql', 'graphql_public', 'vault', 'pgbouncer', 'supabase_functions'])

export function isPlatform(schema: string): boolean {
  return platform.has(schema)
}

/** The schema that is looked at, by the address. */
export function schemaNow(body: CatalogBody | undefined): string {
  const asked = router.query.get('schema')
  if (asked) return asked
  const names = body?.schemas.map((schema) => schema.name) ?? []
  return names.includes('public') ? 'public' : names.find((name) => !platform.has(name)) ?? names[0] ?? 'public'
}

export function schemaOptions(body: CatalogBody): { value: string, label: string }[] {
  return body.schemas.map(({ name }) => ({ value: name, label: name })).sort((a, b) => Number(isPlatform(a.value)) - Number(isPlatform(b.value)) || a.label.localeCompare(b.label))
}

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

export function keyOf(part: IndexPart): string {
  return part.expression || part.column
}

export interface Doing { what: string, of: string }

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
