// Dart with supabase_flutter.
import { argumentsText, at, conflict, elements, key, operand, orderText, placedFilters, placedLimits, placedOrders, select } from './url.ts'
import { laidOut, quoted, type Request, type Server } from './place.ts'
import { literal } from './javascript.ts'

const methods: Record<string, string> = { eq: 'eq', neq: 'neq', gt: 'gt', gte: 'gte', lt: 'lt', lte: 'lte', like: 'like', ilike: 'ilike', sl: 'rangeLt', sr: 'rangeGt', nxr: 'rangeLte', nxl: 'rangeGte', adj: 'rangeAdjacent' }

const text = (value: string) => quoted(value, /\$/g)
/** JSON text is a literal of Dart once its dollars are. */
const value = (json: string, indent: string) => laidOut(json, indent).replace(/\$/g, '\\$')
const plain = (given: string) => literal(given).startsWith("'") ? text(given) : given

export function client(server: Server): string {
  return `import 'package:supabase_flutter/supabase_flutter.dart';\n\nawait Supabase.initialize(url: ${text(server.url)}, publishableKey: ${text(server.key)});\nfinal supabase = Supabase.instance.client;\n`
}

export function dart(request: Request, server: Server): string {
  const lines: string[] = []
  const chosen = select(request)
  const schema = request.schema === server.schemas[0] ? '' : `.schema(${text(request.schema)})`
  if (request.verb === 'rpc') {
    const given = argumentsText(request)
    const parts = [given === '{}' ? '' : `params: ${value(given, '  ')}`, request.get ? 'get: true' : ''].filter(Boolean)
    lines.push(`.rpc(${[text(request.name), ...parts].join(', ')})`)
  } else {
    lines.push(`.from(${text(request.name)})`)
    const body = value(request.body, '  ')
    if (request.verb === 'select') lines.push(`.select(${chosen === '*' ? '' : text(chosen)})`)
    else if (request.verb === 'upsert') lines.push(`.upsert(${body}${request.onConflict.length > 0 ? `, onConflict: ${text(conflict(request))}` : ''})`)
    else lines.push(`.${request.verb}(${request.verb === 'delete' ? '' : body})`)
  }
  if (request.verb !== 'insert' && request.verb !== 'upsert') {
    for (const placed of placedFilters(request)) {
      const { is } = placed
      const column = text(key(placed))
      if (is.not) lines.push(`.not(${column}, ${text(is.op)}, ${text(operand(is))})`)
      else if (is.op === 'in') lines.push(`.inFilter(${column}, [${elements(is.value).map(plain).join(', ')}])`)
      else if (is.op === 'is' && ['null', 'true', 'false'].includes(is.value)) lines.push(`.isFilter(${column}, ${is.value})`)
      else if (methods[is.op]) lines.push(`.${methods[is.op]}(${column}, ${/^r|adj|like/.test(methods[is.op]!) ? text(is.value) : plain(is.value)})`)
      else lines.push(`.filter(${column}, ${text(is.op)}, ${text(is.value)})`)
    }
  }
  if (request.verb === 'rpc' && chosen !== '*') lines.push(`.select(${text(chosen)})`)
  if (request.verb === 'select' || request.verb === 'rpc') {
    for (const placed of placedOrders(request)) {
      for (const one of placed.is) {
        const parts = [text(orderText([{ column: one.column }]).replace(/\.asc$/, '')), `ascending: ${!one.descending}`, one.nulls ? `nullsFirst: ${one.nulls === 'first'}` : '', placed.at.length > 0 ? `referencedTable: ${text(at(placed.at))}` : '']
        lines.push(`.order(${parts.filter(Boolean).join(', ')})`)
      }
    }
    for (const placed of placedLimits(request)) lines.push(`.limit(${placed.is}, referencedTable: ${text(at(placed.at))})`)
    if (request.offset !== undefined && request.offset > 0 && request.limit !== undefined) lines.push(`.range(${request.offset}, ${request.offset + request.limit - 1})`)
    else if (request.limit !== undefined) lines.push(`.limit(${request.limit})`)
  } else if (request.returning) lines.push(`.select(${chosen === '*' ? '' : text(chosen)})`)
  if (request.single) lines.push('.single()')
  if (request.count) lines.push(`.count(CountOption.${request.count})`)
  return `${client(server)}\nfinal data = await supabase${schema}\n${lines.map((line) => `  ${line}`).join('\n')};\n`
}
