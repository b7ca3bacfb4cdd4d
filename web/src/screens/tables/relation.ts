// What the catalog says of a table, as the grid and this screen need it.
import { needs } from '../../app/needs.ts'
import { viewAs } from '../../app/viewas.svelte.ts'
import type { ColumnBody, ForeignKeyBody, RelationBody } from '../../generated/admin.ts'
import { kindOf } from '../../grid/kinds.ts'
import type { Column } from '../../grid/types.ts'
import type { IconName } from '../../kit/icons.ts'

/** The roles whose grants the catalog tells. */
const asked: readonly string[] = ['anon', 'authenticated', 'service_role']

/** Schemas that the server and its services own: the tables of an app are in others. */
export const services: readonly string[] = ['auth', 'storage', 'realtime', 'extensions', 'supabase_migrations']

/** The foreign key of one column, through which a row can be looked up. */
export function referenceOf(relation: RelationBody, column: string): ForeignKeyBody | undefined {
  return relation.foreign_keys.find((key) => key.columns.length === 1 && key.columns[0] === column)
}

function columnOf(relation: RelationBody, body: ColumnBody): Column {
  const column: Column = {
    name: body.name,
    type: body.type,
    kind: kindOf(body.type_kind === 'domain' && body.element ? body.element : body.type, body.type_kind),
    nullable: !body.not_null,
    key: relation.primary_key.includes(body.name),
    readonly: body.generated !== null,
  }
  if (body.type_kind === 'array' && body.element) column.element = { kind: kindOf(body.element, 'base'), type: body.element, ...(body.enum_values.length > 0 ? { kind: 'enum', enumValues: body.enum_values } : {}) }
  else if (body.enum_values.length > 0) column.enumValues = body.enum_values
  if (body.default !== null) column.default = body.default
  else if (body.identity !== '') column.default = 'identity'
  if (body.comment) column.comment = body.comment
  const reference = referenceOf(relation, body.name)
  if (reference) column.reference = `${reference.ref_schema}.${reference.ref_table}.${reference.ref_columns[0]}`
  return column
}

export function columnsOf(relation: RelationBody): Column[] {
  return relation.columns.map((body) => columnOf(relation, body))
}

/** Whether policies keep the anon key, which acts as anon, from all rows. */
export function barsAnon(relation: RelationBody, command: 'select' | 'insert'): boolean {
  return relation.rls && !relation.policies.some((policy) => policy.permissive && (policy.command === command || policy.command === 'all')
    && (policy.roles.length === 0 || policy.roles.some((role) => role === 'anon' || role === 'public')))
}

/** Why rows of a relation cannot be changed; undefined when they can. */
export function frozenBecause(relation: RelationBody): string | undefined {
  const refused = needs('editor')
  if (refused) return refused
  if (relation.kind === 'materialized_view') return 'A materialized view is filled by its query: refresh it instead.'
  if (relation.kind === 'view' && relation.primary_key.length === 0) return 'A view has no primary key, so its rows cannot be told apart safely. Change the tables it reads from.'
  if (relation.primary_key.length === 0) return 'This table has no primary key, so rows cannot be told apart. Add one in Structure to edit here.'
  return undefined
}

/** Why rows of a relation cannot be read as whom data are seen; undefined when they can, or when only asking will tell. */
export function unreadableBecause(relation: RelationBody): string | undefined {
  const { role } = viewAs
  if (role === undefined || !asked.includes(role) || relation.readers.includes(role)) return undefined
  const refused = viewAs.viewer ? undefined : needs('editor')
  return `The role ${role} is not granted to read ${relation.schema}.${relation.name}.${refused ? ` ${refused}` : ''}`
}

/** How row level security stands, in a word and a sentence. */
export function security(relation: RelationBody): { tone: 'good' | 'warn' | 'info', label: string, text: string, icon: IconName } | undefined {
  if (relation.kind !== 'table' && relation.kind !== 'partitioned_table') return undefined
  if (!relation.rls) return { tone: 'warn', label: 'RLS off', icon: 'lock-open', text: 'Row level security is off: whoever has a grant reads and writes all rows.' }
  if (relation.policies.length === 0) return { tone: 'info', label: 'RLS, no policy', icon: 'lock', text: 'Row level security is on without a policy: only the owner and the service role see rows.' }
  const n = relation.policies.length
  return { tone: 'good', label: `RLS, ${n} ${n === 1 ? 'policy' : 'policies'}`, icon: 'shield-check', text: `Row level security is on: ${n} ${n === 1 ? 'policy decides' : 'policies decide'} who sees which rows.` }
}

/** The values of a key as the grid names rows: the inverse of its `rowKey`. */
export function keyValues(relation: RelationBody, id: string): Record<string, string | null> | undefined {
  const names = relation.primary_key
  let values: unknown = [id]
  if (names.length > 1 || id.startsWith('[')) {
    try {
      values = JSON.parse(id)
    } catch {
      return undefined
    }
  }
  if (!Array.isArray(values) || values.length !== names.length || names.length === 0) return undefined
  const inOrder = relation.columns.filter((column) => names.includes(column.name)).map((column) => column.name)
  return Object.fromEntries(inOrder.map((name, i) => [name, values[i] as string | null]))
}
