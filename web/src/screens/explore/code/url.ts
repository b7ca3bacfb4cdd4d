// The HTTP request of what was composed: the grammar of the REST API (docs: PostgREST's, "Tables and Views").
import { quoted, restName } from '../../../app/restname.ts'
import type { Embed, Filter, Order, Picked, Request } from './request.ts'

export interface HTTP {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Behind the API's address, with the query: /todos?select=id. */
  path: string
  headers: Record<string, string>
  /** The JSON text; "" for none. */
  body: string
}

/** The names of columns that the condition is on: a path into JSON (->, ->>) stays as it is. */
function field(text: string): string {
  const path = /^(.+?)(->.*)$/s.exec(text)
  return path ? restName(path[1]!) + path[2]! : restName(text)
}

/** An element of a list in parentheses. */
export function element(text: string): string {
  return /^[^\s,()"\\{}.:][^,()"\\{}:]*$/.test(text) && text.toLowerCase() !== 'null' ? text : quoted(text)
}

function pick(column: Picked): string {
  const called = column.aggregate === 'count' && column.name === '*' ? 'count()' : (column.name === '*' ? '*' : field(column.name)) + (column.aggregate ? `.${column.aggregate}()` : '')
  return (column.alias ? `${restName(column.alias)}:` : '') + called + (column.cast ? `::${column.cast}` : '')
}

function embedded(embed: Embed): string {
  return (embed.alias ? `${restName(embed.alias)}:` : '') + restName(embed.name) + (embed.hint ? `!${restName(embed.hint)}` : '') + (embed.inner ? '!inner' : '') + `(${inside(embed.columns, embed.embeds)})`
}

function inside(columns: readonly Picked[], embeds: readonly Embed[]): string {
  return [...(columns.length === 0 ? ['*'] : columns.map(pick)), ...embeds.map(embedded)].join(',')
}

/** The value of select, "*" when nothing is chosen. */
export function select(request: Pick<Request, 'columns' | 'embeds'>): string { return inside(request.columns, request.embeds) }

/** The columns that tell which row an upsert means. */
export function conflict(request: Request): string { return request.onConflict.map(restName).join(',') }

/** A condition with its place: the names of the embeds that it is within. */
interface Placed<T> { at: string[], is: T }

/** All conditions, those of embeds too. */
export function placedFilters(request: Request): Placed<Filter>[] {
  return [...request.filters.map((is) => ({ at: [], is })), ...each(request.embeds, [], (embed) => embed.filters)]
}

export function placedOrders(request: Request): Placed<Order[]>[] {
  const own = request.order.length > 0 ? [{ at: [], is: request.order }] : []
  return [...own, ...each(request.embeds, [], (embed) => embed.order.length > 0 ? [embed.order] : [])]
}

export function placedLimits(request: Request): Placed<number>[] {
  return each(request.embeds, [], (embed) => embed.limit === undefined ? [] : [embed.limit])
}

function each<T>(embeds: readonly Embed[], at: string[], of: (embed: Embed) => T[]): Placed<T>[] {
  return embeds.flatMap((embed) => {
    const here = [...at, embed.alias || embed.name]
    return [...of(embed).map((is) => ({ at: here, is })), ...each(embed.embeds, here, of)]
  })
}

/** The name of a filter's parameter. */
export function key(placed: Placed<{ column: string }>): string { return [...placed.at.map(restName), field(placed.is.column)].join('.') }

/** Where an embed's own order and limit stand. */
export function at(place: readonly string[]): string { return place.map(restName).join('.') }

/** What follows the operator: the value of `in` gets its parentheses. */
export function operand(filter: Filter): string {
  if (filter.op === 'in') return `(${elements(filter.value).map(element).join(',')})`
  return filter.value
}

/** The elements of a list as it is typed: by commas; quotes hold what has one. */
export function elements(text: string): string[] {
  const found: string[] = []
  for (const [, quoted, plain] of text.matchAll(/\s*(?:"((?:[^"\\]|\\.)*)"|([^,]*))\s*(?:,|$)/gs)) {
    if (quoted !== undefined) found.push(quoted.replace(/\\(.)/gs, '$1'))
    else if (plain!.trim() !== '') found.push(plain!.trim())
  }
  return found
}

export function orderText(order: readonly Order[]): string {
  return order.map((one) => `${field(one.column)}.${one.descending ? 'desc' : 'asc'}${one.nulls ? `.nulls${one.nulls}` : ''}`).join(',')
}

/** The parameters of the query, in the order in which supabase-js sets them. */
function parameters(request: Request): [string, string][] {
  const list: [string, string][] = []
  const shows = request.verb === 'select' || request.verb === 'rpc' ? request.columns.length + request.embeds.length > 0 || request.verb === 'select' : request.returning
  if (request.verb === 'upsert' && request.onConflict.length > 0) list.push(['on_conflict', conflict(request)])
  const keys = request.verb === 'insert' || request.verb === 'upsert' ? columnsOf(request.body) : undefined
  if (keys) list.push(['columns', keys.map(quoted).join(',')])
  if (request.verb === 'rpc' && request.get) for (const [of, value] of Object.entries(values(request))) list.push([of, argument(value)])
  if (shows) list.push(['select', select(request)])
  if (request.verb === 'insert' || request.verb === 'upsert') return list
  for (const placed of placedFilters(request)) list.push([key(placed), `${placed.is.not ? 'not.' : ''}${placed.is.op}.${operand(placed.is)}`])
  if (request.verb !== 'select' && request.verb !== 'rpc') return list
  for (const placed of placedOrders(request)) list.push([[...placed.at.map(restName), 'order'].join('.'), orderText(placed.is)])
  for (const placed of placedLimits(request)) list.push([[...placed.at.map(restName), 'limit'].join('.'), String(placed.is)])
  if (request.offset !== undefined && request.offset > 0) list.push(['offset', String(request.offset)])
  if (request.limit !== undefined) list.push(['limit', String(request.limit)])
  return list
}

/** The keys of all rows of an array, as supabase-js names them; undefined for a single row and for what is no JSON. */
function columnsOf(body: string): string[] | undefined {
  const rows: unknown = json(body)
  if (!Array.isArray(rows)) return undefined
  const keys = [...new Set(rows.flatMap((row) => typeof row === 'object' && row !== null ? Object.keys(row) : []))]
  return keys.length > 0 ? keys : undefined
}

/** The value of a JSON text, undefined when it is none. */
export function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The arguments of a call. What is typed is JSON where it can be read so, and a text otherwise. */
export function values(request: Request): Record<string, unknown> {
  return Object.fromEntries(request.arguments.filter((one) => one.name !== '').map(({ name: of, value }) => [of, json(value) ?? value]))
}

/** A value in a query string. */
function argument(value: unknown): string {
  if (Array.isArray(value)) return `{${value.join(',')}}`
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}

/** The arguments as JSON text. Numbers stay as they were typed, for those of PostgreSQL may be longer than those of JavaScript. */
export function argumentsText(request: Request): string {
  const parts = request.arguments.filter((one) => one.name !== '').map(({ name: of, value }) => `${JSON.stringify(of)}: ${json(value) === undefined ? JSON.stringify(value) : value.trim()}`)
  return `{${parts.join(', ')}}`
}

/** Percent-encodes what has to be, and leaves the grammar to be read. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/%(?:2C|3A|24|40|2F|3E|7B|7D)/g, (found) => found === '%7B' || found === '%7D' || found === '%3E' ? found : decodeURIComponent(found))
}

export function http(request: Request, schemas: readonly string[], always = false): HTTP {
  const method = request.verb === 'select' || request.verb === 'rpc' && request.get ? 'GET' : request.verb === 'update' ? 'PATCH' : request.verb === 'delete' ? 'DELETE' : 'POST'
  const query = parameters(request).map(([of, value]) => `${encode(of)}=${encode(value)}`).join('&')
  const headers: Record<string, string> = {}
  if (always || request.schema !== schemas[0]) headers[method === 'GET' ? 'Accept-Profile' : 'Content-Profile'] = request.schema
  const prefer: string[] = []
  if (request.verb === 'upsert') prefer.push('resolution=merge-duplicates')
  if (request.count) prefer.push(`count=${request.count}`)
  if (request.verb !== 'select' && request.verb !== 'rpc') prefer.push(`return=${request.returning ? 'representation' : 'minimal'}`)
  if (prefer.length > 0) headers.Prefer = prefer.join(',')
  if (request.single) headers.Accept = 'application/vnd.pgrst.object+json'
  const body = request.verb === 'rpc' ? request.get ? '' : argumentsText(request) : request.verb === 'select' || request.verb === 'delete' ? '' : request.body
  if (method === 'POST' || method === 'PATCH') headers['Content-Type'] = 'application/json'
  return { method, path: `/${request.verb === 'rpc' ? 'rpc/' : ''}${encodeURIComponent(request.name)}${query ? `?${query}` : ''}`, headers, body }
}
