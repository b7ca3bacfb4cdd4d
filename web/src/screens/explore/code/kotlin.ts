// Kotlin with supabase-kt.
import { at, conflict, element, elements, json, key, operand, orderText, placedFilters, placedLimits, placedOrders, select } from './url.ts'
import { argumentsText, quoted, type Request, type Server } from './place.ts'
import { literal } from './javascript.ts'

const text = (value: string) => quoted(value, /\$/g).replaceAll('\\f', '\\u000c')
const plain = (value: string) => literal(value).startsWith("'") ? text(value) : value
const operators: Record<string, string> = { in: 'IN', cs: 'CS', cd: 'CD', ov: 'OV', sl: 'SL', sr: 'SR', nxl: 'NXL', nxr: 'NXR', adj: 'ADJ', match: 'MATCH', imatch: 'IMATCH', fts: 'FTS', plfts: 'PLFTS', phfts: 'PHFTS', wfts: 'WFTS', is: 'IS', like: 'LIKE', ilike: 'ILIKE', eq: 'EQ', neq: 'NEQ', gt: 'GT', gte: 'GTE', lt: 'LT', lte: 'LTE' }

export function client(server: Server): string {
  return `val supabase = createSupabaseClient(supabaseUrl = ${text(server.url)}, supabaseKey = ${text(server.key)}) {\n    install(Auth)\n    install(Postgrest)\n}\n`
}

/** JSON text as an element: parsed at run time, for all of JSON can be written so. */
const parsed = (source: string) => `Json.parseToJsonElement(${text(json(source) === undefined && source.trim() === '' ? '{}' : source.trim())})`

export function kotlin(request: Request, server: Server): string {
  const chosen = select(request)
  const schema = request.schema === server.schemas[0] ? '' : `[${text(request.schema)}, ${text(request.name)}]`
  const from = schema ? `supabase.postgrest${schema}` : `supabase.from(${text(request.name)})`
  const inside: string[] = []
  if (request.verb !== 'insert' && request.verb !== 'upsert') {
    const conditions = placedFilters(request).map((placed) => {
      const { is } = placed
      const column = text(key(placed))
      if (is.not) return `filterNot(${column}, FilterOperator.${operators[is.op] ?? is.op.toUpperCase()}, ${text(operand(is))})`
      if (is.op === 'in' && elements(is.value).every((one) => element(one) === one)) return `isIn(${column}, listOf(${elements(is.value).map(plain).join(', ')}))`
      if (is.op === 'is' && is.value !== 'unknown') return `exact(${column}, ${is.value})`
      if (['eq', 'neq', 'gt', 'gte', 'lt', 'lte'].includes(is.op)) return `${is.op}(${column}, ${plain(is.value)})`
      if (is.op === 'like' || is.op === 'ilike') return `${is.op}(${column}, ${text(is.value)})`
      return `filter(${column}, FilterOperator.${operators[is.op] ?? is.op.toUpperCase()}, ${text(operand(is))})`
    })
    if (conditions.length > 0) inside.push('filter {', ...conditions.map((line) => `    ${line}`), '}')
  }
  if (request.verb === 'select' || request.verb === 'rpc') {
    for (const placed of placedOrders(request)) {
      for (const one of placed.is) inside.push(`order(${[text(orderText([{ column: one.column }]).replace(/\.asc$/, '')), `Order.${one.descending ? 'DESCENDING' : 'ASCENDING'}`, one.nulls ? `nullsFirst = ${one.nulls === 'first'}` : '', placed.at.length > 0 ? `referencedTable = ${text(at(placed.at))}` : ''].filter(Boolean).join(', ')})`)
    }
    for (const placed of placedLimits(request)) inside.push(`limit(${placed.is}, referencedTable = ${text(at(placed.at))})`)
    if (request.offset !== undefined && request.offset > 0 && request.limit !== undefined) inside.push(`range(${request.offset}L..${request.offset + request.limit - 1}L)`)
    else if (request.limit !== undefined) inside.push(`limit(${request.limit})`)
  }
  if (request.count) inside.push(`count(Count.${request.count.toUpperCase()})`)
  if (request.verb === 'rpc') {
    if (request.get) inside.unshift('method = RpcMethod.GET')
    if (schema) inside.unshift(`schema = ${text(request.schema)}`)
    if (chosen !== '*') inside.push(`select(Columns.raw(${text(chosen)}))`)
  } else if (request.verb !== 'select' && request.returning) inside.push(chosen === '*' ? 'select()' : `select(Columns.raw(${text(chosen)}))`)
  if (request.verb === 'upsert' && request.onConflict.length > 0) inside.push(`onConflict = ${text(conflict(request))}`)
  if (request.single) inside.push('single()')
  const block = inside.length > 0 ? ` {\n${inside.map((line) => `    ${line}`).join('\n')}\n}` : ''
  let call: string
  if (request.verb === 'rpc') {
    const given = argumentsText(request)
    call = `supabase.postgrest.rpc(${text(request.name)}${given === '{}' ? '' : `, ${parsed(given)}.jsonObject`})${block}`
  } else if (request.verb === 'select') call = `${from}.select(${chosen === '*' ? '' : `Columns.raw(${text(chosen)})`})${block}`
  else if (request.verb === 'delete') call = `${from}.delete${block || '()'}`
  else call = `${from}.${request.verb}(${parsed(request.body)}${json(request.body) instanceof Array ? '.jsonArray' : '.jsonObject'})${block}`
  return `${client(server)}\nval response = ${call}\n`
}
