// A request of the REST API as the explorer composes it, and as it stands in the address of the screen.

const verbs = ['select', 'insert', 'update', 'upsert', 'delete', 'rpc'] as const
export type Verb = (typeof verbs)[number]
export const aggregates = ['count', 'sum', 'avg', 'min', 'max'] as const
export type Aggregate = (typeof aggregates)[number]

/** A column of the answer. `name` "*" is all of them; an aggregate `count` of "*" counts rows. */
export interface Picked { name: string, cast?: string, alias?: string, aggregate?: Aggregate }
/** A condition. `value` is what the operator compares with, as the API spells it (a list in braces or parentheses too). */
export interface Filter { column: string, op: string, value: string, not?: boolean }
export interface Order { column: string, descending?: boolean, nulls?: 'first' | 'last' }
/** Rows of another relation within the rows: by its name, with a hint where several ways lead there. */
export interface Embed {
  name: string
  hint?: string
  alias?: string
  inner?: boolean
  columns: Picked[]
  embeds: Embed[]
  filters: Filter[]
  order: Order[]
  limit?: number
}
interface Argument { name: string, value: string }

export interface Request {
  verb: Verb
  schema: string
  /** The relation, or for rpc the function. */
  name: string
  columns: Picked[]
  embeds: Embed[]
  filters: Filter[]
  order: Order[]
  limit?: number
  offset?: number
  count?: 'exact' | 'planned' | 'estimated'
  /** One row is expected: an object in place of an array. */
  single?: boolean
  /** The JSON text of what is written. */
  body: string
  /** Of upsert: the columns that tell which row is meant; the primary key when empty. */
  onConflict: string[]
  /** Rows that were written are answered. */
  returning: boolean
  /** Of rpc, as JSON texts. */
  arguments: Argument[]
  /** Of rpc: called by GET. */
  get?: boolean
}

export function emptyRequest(schema: string, name: string, verb: Verb = 'select'): Request {
  return { verb, schema, name, columns: [], embeds: [], filters: [], order: [], body: '', onConflict: [], returning: verb !== 'select' && verb !== 'rpc', arguments: [] }
}

/** The request as a short text for the address; "" for the one that a screen begins with. */
export function write(request: Request): string {
  const { schema: _schema, name: _name, ...rest } = request
  const begin = emptyRequest('', '', 'select')
  const kept = Object.entries(rest).filter(([key, value]) => value !== undefined && JSON.stringify(value) !== JSON.stringify(begin[key as keyof Request]))
  return kept.length === 0 ? '' : JSON.stringify(Object.fromEntries(kept))
}

/** Reads what `write` wrote. What is none of it, for links may say anything, is left out. */
export function read(text: string | null, schema: string, name: string): Request {
  const request = emptyRequest(schema, name)
  if (!text || text.length > 100_000) return request
  let given: Record<string, unknown>
  try {
    given = object(JSON.parse(text))
  } catch {
    return request
  }
  const verb = verbs.find((one) => one === given.verb)
  if (verb) request.verb = verb
  request.returning = given.returning === undefined ? request.returning : given.returning === true
  request.columns = list(given.columns, picked)
  request.embeds = list(given.embeds, (value) => embed(value, 0))
  request.filters = list(given.filters, filter)
  request.order = list(given.order, order)
  request.onConflict = list(given.onConflict, word)
  request.arguments = list(given.arguments, (value) => {
    const { name: of, value: is } = object(value)
    return word(of) === undefined ? undefined : { name: of as string, value: word(is) ?? '' }
  })
  request.body = word(given.body) ?? ''
  const limit = number(given.limit)
  if (limit !== undefined) request.limit = limit
  const offset = number(given.offset)
  if (offset !== undefined) request.offset = offset
  if (given.count === 'exact' || given.count === 'planned' || given.count === 'estimated') request.count = given.count
  if (given.single === true) request.single = true
  if (given.get === true) request.get = true
  return request
}

const deepest = 5

function object(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value as Record<string, unknown> : {}
}

function list<T>(value: unknown, one: (value: unknown) => T | undefined): T[] {
  return Array.isArray(value) ? value.slice(0, 200).map(one).filter((item): item is NonNullable<typeof item> & T => item !== undefined) : []
}

function word(value: unknown): string | undefined { return typeof value === 'string' ? value : undefined }
function number(value: unknown): number | undefined { return Number.isSafeInteger(value) && (value as number) >= 0 ? value as number : undefined }

function picked(value: unknown): Picked | undefined {
  const given = object(value)
  const name = word(given.name)
  if (name === undefined) return undefined
  const aggregate = aggregates.find((one) => one === given.aggregate)
  const [cast, alias] = [word(given.cast), word(given.alias)]
  return { name, ...(cast ? { cast } : {}), ...(alias ? { alias } : {}), ...(aggregate ? { aggregate } : {}) }
}

function filter(value: unknown): Filter | undefined {
  const given = object(value)
  const [column, op, text] = [word(given.column), word(given.op), word(given.value)]
  if (column === undefined || op === undefined || !/^[a-z]+$/.test(op)) return undefined
  return { column, op, value: text ?? '', ...(given.not === true ? { not: true } : {}) }
}

function order(value: unknown): Order | undefined {
  const given = object(value)
  const column = word(given.column)
  if (column === undefined) return undefined
  return { column, ...(given.descending === true ? { descending: true } : {}), ...(given.nulls === 'first' || given.nulls === 'last' ? { nulls: given.nulls } : {}) }
}

function embed(value: unknown, depth: number): Embed | undefined {
  const given = object(value)
  const name = word(given.name)
  if (name === undefined || depth === deepest) return undefined
  const [hint, alias, limit] = [word(given.hint), word(given.alias), number(given.limit)]
  return {
    name, columns: list(given.columns, picked), embeds: list(given.embeds, (one) => embed(one, depth + 1)),
    filters: list(given.filters, filter), order: list(given.order, order),
    ...(hint ? { hint } : {}), ...(alias ? { alias } : {}), ...(given.inner === true ? { inner: true } : {}), ...(limit === undefined ? {} : { limit }),
  }
}
