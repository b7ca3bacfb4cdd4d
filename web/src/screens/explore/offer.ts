// What the REST API offers, and what of it a role may use.
import { api } from '../../app/api.ts'
import type { Wanted } from '../../app/query.svelte.ts'
import type { ExploreBody, ExploreEmbed, ExploreFunction, ExploreRelation } from '../../generated/admin.ts'
import { emptyRequest, type Request, type Verb } from './code/request.ts'

export const offer: Wanted<ExploreBody> = { key: ['explore'], read: (signal) => api.get<ExploreBody>('/explore', { signal }) }

/** Verbs as they are shown, with the privilege that each needs first. */
export const verbNames: Record<Verb, string> = { select: 'Read', insert: 'Insert', update: 'Update', upsert: 'Upsert', delete: 'Delete', rpc: 'Call' }
const privileges: Record<Exclude<Verb, 'rpc'>, readonly string[]> = { select: ['select'], insert: ['insert'], update: ['update'], upsert: ['insert', 'update'], delete: ['delete'] }

export type Answer = 'yes' | 'policy' | 'grant' | 'never'
/** Whether a role may do something with a relation: never (a view that cannot be written), no grant, or no policy that lets rows through. */
export function may(relation: ExploreRelation, role: string, verb: Exclude<Verb, 'rpc'>): Answer {
  const needed = privileges[verb]
  if (needed.some((one) => !relation.verbs.includes(one))) return 'never'
  const access = relation.access.find((one) => one.role === role)
  if (!access) return 'yes' // the owner, or a role that only its administrator knows
  if (needed.some((one) => !access.granted.includes(one))) return 'grant'
  return needed.some((one) => !access.passed.includes(one)) ? 'policy' : 'yes'
}

export const answers: Record<Answer, string> = {
  yes: 'Allowed', policy: 'Granted, but no policy lets rows through', grant: 'Not granted', never: 'The relation cannot be written so',
}

export function find(body: ExploreBody, schema: string, name: string): ExploreRelation | undefined {
  return body.relations.find((one) => one.schema === schema && one.name === name)
}

export function overloads(body: ExploreBody, schema: string, name: string): ExploreFunction[] {
  return body.functions.filter((one) => one.schema === schema && one.name === name)
}

/** What rows can be embedded: of a relation, none where it is unknown. */
export function embedsOf(body: ExploreBody, schema: string, name: string): readonly ExploreEmbed[] { return find(body, schema, name)?.embeds ?? [] }

/** The relationship that an embed of a request goes along. */
export function embedFor(embeds: readonly ExploreEmbed[], name: string, hint?: string): ExploreEmbed | undefined {
  const named = embeds.filter((one) => one.name === name)
  if (!hint) return named.find((one) => one.hint === '') ?? named[0]
  // A hint may also be the column of the foreign key, or the table between.
  return named.find((one) => one.hint === hint || one.constraint === hint) ?? named.find((one) => one.through === hint || one.columns.some((pair) => pair.split(' = ').includes(hint)))
}

/** An example of a value in JSON, by the type of its column. */
export function example(type: string, category: string, values?: readonly string[]): string {
  if (values?.length) return JSON.stringify(values[0])
  if (type === 'json' || type === 'jsonb') return '{}'
  if (type === 'uuid') return '"00000000-0000-0000-0000-000000000000"'
  if (type === 'date') return '"2026-01-31"'
  if (category === 'D') return type.startsWith('time') && !type.startsWith('timestamp') ? '"12:00:00"' : '"2026-01-31T12:00:00Z"'
  if (category === 'N') return '1'
  if (category === 'B') return 'true'
  if (category === 'A') return '[]'
  return '"text"'
}

/** The body that a write begins with: the columns that must be given, or else those that can. */
export function exampleBody(relation: ExploreRelation, verb: Verb): string {
  const writable = relation.columns.filter((one) => one.writable)
  const needed = writable.filter((one) => one.not_null && !one.has_default)
  const free = writable.filter((one) => !relation.primary_key.includes(one.name))
  const chosen = verb === 'update' ? [free.find((one) => !one.has_default) ?? free[0]].filter((one) => one !== undefined) : verb === 'upsert' ? writable.filter((one) => relation.primary_key.includes(one.name) || needed.includes(one)) : needed.length > 0 ? needed : free.slice(0, 2)
  if (chosen.length === 0) return '{}'
  return `{\n${chosen.map((one) => `  ${JSON.stringify(one.name)}: ${example(one.type, one.category, one.enum_values)}`).join(',\n')}\n}`
}

/** What a verb begins with: never a write of all rows. */
export function begin(relation: ExploreRelation, verb: Verb): Request {
  const request = emptyRequest(relation.schema, relation.name, verb)
  if (verb === 'insert' || verb === 'update' || verb === 'upsert') request.body = exampleBody(relation, verb)
  if (verb === 'update' || verb === 'delete') {
    const key = relation.primary_key[0] ?? relation.columns[0]?.name
    const column = relation.columns.find((one) => one.name === key)
    if (column) request.filters = [{ column: column.name, op: 'eq', value: JSON.parse(example(column.type, column.category, column.enum_values)) + '' }]
  }
  if (verb === 'upsert') request.onConflict = [...relation.primary_key]
  if (verb === 'select') request.limit = 20
  return request
}

export function beginCall(of: ExploreFunction): Request {
  const request = emptyRequest(of.schema, of.name, 'rpc')
  request.arguments = of.arguments.filter((one) => one.name && one.required).map((one) => ({ name: one.name, value: one.category === 'S' ? 'text' : example(one.type, one.category, one.enum_values).replace(/^"(.*)"$/, '$1') }))
  if (of.read_only) request.get = true
  return request
}
