// What the catalog says of the database, for all screens that ask.
import type { CatalogBody, RelationBody } from '../generated/admin.ts'
import type { Name } from '../ddl/quote.ts'
import type { IconName } from '../kit/icons.ts'
import { api } from './api.ts'
import type { Wanted } from './query.svelte.ts'
import { router } from './router.svelte.ts'

export const catalog: Wanted<CatalogBody> = { key: ['catalog'], read: (signal) => api.get<CatalogBody>('/catalog', { signal }) }

export function relationsOf(body: CatalogBody | undefined): RelationBody[] {
  return body?.relations.filter((relation) => relation !== null) ?? []
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
