// Reads rows through the REST API over all schemas: values as PostgreSQL's own text, as whom "view as" says.
import { api, ApiError, send } from '../../app/api.ts'
import { viewAs } from '../../app/viewas.svelte.ts'
import type { RelationBody, RungsBody } from '../../generated/admin.ts'
import type { Column, Row, Sort, Source } from '../../grid/types.ts'
import { quoted, restName } from '../../app/restname.ts'
import { Anchors, type Key } from './anchors.ts'
import { restCondition, type Filter } from './filters.ts'

/** More rows than these are not counted: PostgreSQL's estimate is shown. */
const countedUpTo = 50_000
/** Rows between two of the keys by which far rows of a large table are found; larger tables have none. */
const rung = 5_000
const rungsUpTo = 5_000_000

export type Parameters = [string, string][]

/** A relation's name in an address of REST. */
function restPath(table: string): string {
  return '/' + encodeURIComponent(table)
}

function headersFor(schema: string): Record<string, string> {
  return { 'X-Schema': encodeURIComponent(schema), ...viewAs.headers }
}

async function get(schema: string, table: string, parameters: Parameters, signal: AbortSignal | undefined, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> {
  const query = new URLSearchParams(parameters).toString()
  return send(method, `/rest${restPath(table)}?${query}`, undefined, { headers: { ...headersFor(schema), ...headers }, ...(signal ? { signal } : {}) })
}

/** Asks for columns as text, so that nothing is rounded on the way. */
function asText(columns: readonly { name: string }[]): [string, string] {
  return ['select', columns.map(({ name }) => `${restName(name)}::text`).join(',')]
}

export function conditions(filters: readonly Filter[]): Parameters {
  return filters.map((filter) => [restName(filter.column), restCondition(filter)])
}

/** Rows with these columns, in this order. */
export async function rows(schema: string, table: string, columns: readonly { name: string }[], more: Parameters, signal?: AbortSignal): Promise<Row[]> {
  if (columns.length === 0) return []
  const answer = await get(schema, table, [asText(columns), ...more], signal)
  const found = JSON.parse(await answer.text()) as Record<string, string | null>[]
  return found.map((row) => columns.map(({ name }) => row[name] ?? null))
}

async function total(schema: string, table: string, filters: readonly Filter[], how: 'exact' | 'planned', first: Promise<unknown>, signal: AbortSignal): Promise<number> {
  const answer = await get(schema, table, [...conditions(filters), ['limit', '0']], signal, { Prefer: `count=${how}` }, 'HEAD').catch(async (error: unknown) => {
    // A refusal of HEAD has no words. The reading of the first rows is as a rule refused for the same reason, in words.
    await first
    if (error instanceof ApiError && error.status >= 400) await get(schema, table, [...conditions(filters), ['limit', '0']], signal, { Prefer: `count=${how}` })
    throw error
  })
  return Number(/\/(\d+)$/.exec(answer.headers.get('Content-Range') ?? '')?.[1] ?? 0)
}

/** How many rows there are: exactly when they are few. `first` is the reading of some of them that is under way. */
export async function count(schema: string, table: string, filters: readonly Filter[], first: Promise<unknown>, signal: AbortSignal): Promise<{ count: number, estimated: boolean }> {
  const planned = await total(schema, table, filters, 'planned', first, signal)
  if (planned > countedUpTo) return { count: planned, estimated: true }
  return { count: await total(schema, table, filters, 'exact', first, signal), estimated: false }
}

function terms(relation: RelationBody, sort: readonly Sort[]): Sort[] {
  const named = new Set(sort.map(({ column }) => column))
  return [...sort, ...relation.primary_key.filter((name) => !named.has(name)).map((column) => ({ column, descending: false }))]
}

/** The order by which rows are read: what is asked for, and the key so that no row is read twice. */
export function order(relation: RelationBody, sort: readonly Sort[], backwards = false): Parameters {
  const all = terms(relation, sort)
  if (all.length === 0) return []
  return [['order', all.map(({ column, descending }) => `${restName(column)}.${descending !== backwards ? 'desc' : 'asc'}`).join(',')]]
}

/** The condition for rows with a greater (or lesser) key. By its first column alone PostgreSQL begins in the index where they may be. */
export function beyond(key: readonly string[], values: Key, greater: boolean): Parameters {
  const than = greater ? 'gt' : 'lt'
  const first: [string, string] = [restName(key[0]!), `${than}${key.length > 1 ? 'e' : ''}.${values[0]!}`]
  if (key.length === 1) return [first]
  const compared = key.map((name, i) => {
    const same = key.slice(0, i).map((before, j) => `${restName(before)}.eq.${quoted(values[j]!)}`)
    return `and(${[...same, `${restName(name)}.${than}.${quoted(values[i]!)}`].join(',')})`
  })
  return [first, ['or', `(${compared.join(',')})`]]
}

/**
 * The rows of a relation, for the grid. Where rows are ordered by the key, those near to rows that were read are found
 * from them: an offset would pass over all rows before.
 */
export async function open(relation: RelationBody, columns: readonly Column[], filters: readonly Filter[], sort: readonly Sort[], first: number, signal: AbortSignal): Promise<Source> {
  const { schema, name: table, primary_key: key } = relation
  const by = terms(relation, sort)
  const descending = by[0]?.descending ?? false
  /** Where the values of the key are in a row, when it is by them that rows are ordered. */
  const at = key.map((name) => columns.findIndex((column) => column.name === name))
  const byKey = key.length > 0 && by.length === key.length && by.every((term, i) => term.column === key[i] && term.descending === descending && at[i]! >= 0)
  const anchors = new Anchors()

  const from = Math.floor(first / 100) * 100
  const early = read(from, from + 100, signal)
  early.catch(() => undefined) // told when the grid asks for it, or by the count
  const { count: counted, estimated } = await count(schema, table, filters, early, signal)
  let unused = true
  if (byKey && estimated && counted <= rungsUpTo && filters.length === 0) {
    const path = `/rungs/${encodeURIComponent(schema)}/${encodeURIComponent(table)}`
    anchors.expect(api.get<RungsBody>(path, { query: { step: rung, descending }, headers: viewAs.headers, signal }), counted)
  }

  async function read(start: number, end: number, aborted: AbortSignal): Promise<Row[]> {
    const parameters = conditions(filters)
    const anchor = byKey ? await anchors.nearest(start, end) : undefined
    aborted.throwIfAborted() // the grid was scrolled on while rungs were waited for
    if (!anchor) parameters.push(...order(relation, sort), ['offset', String(start)], ['limit', String(end - start)])
    else {
      const after = anchor.row < start
      parameters.push(...beyond(key, anchor.key, after !== descending), ...order(relation, sort, !after))
      parameters.push(['offset', String(after ? start - anchor.row - 1 : anchor.row - end)], ['limit', String(end - start)])
    }
    const found = await rows(schema, table, columns, parameters, aborted)
    if (anchor && anchor.row >= end) found.reverse()
    if (byKey && found.length > 0) {
      remember(start, found[0]!)
      remember(start + found.length - 1, found.at(-1)!)
    }
    return found
  }

  function remember(row: number, values: Row): void {
    const found = at.map((i) => values[i])
    if (found.every((value) => typeof value === 'string')) anchors.remember(row, found)
  }

  return {
    count: counted,
    estimated,
    fetch(start, end, aborted) {
      if (unused && start === from && (end === from + 100 || end === counted)) {
        unused = false
        return early
      }
      return read(start, end, aborted)
    },
  }
}

/** The row of a key with these columns, or undefined. */
export async function one(schema: string, table: string, columns: readonly { name: string }[], key: Record<string, string | null>, signal?: AbortSignal): Promise<Row | undefined> {
  const where: Parameters = Object.entries(key).map(([name, value]) => [restName(name), value === null ? 'is.null' : `eq.${value}`])
  return (await rows(schema, table, columns, [...where, ['limit', '1']], signal))[0]
}
