// Swift with supabase-swift.
import { at, conflict, elements, json, key, operand, orderText, placedFilters, placedLimits, placedOrders, select } from './url.ts'
import { argumentsText, quoted, type Request, type Server } from './place.ts'
import { literal } from './javascript.ts'

/** A text: JSON's escapes but for those of Unicode, which Swift writes in braces. */
const text = (value: string) => quoted(value).replace(/\\u([0-9a-f]{4})/g, '\\u{$1}').replaceAll('\\b', '\\u{8}').replaceAll('\\f', '\\u{c}')
const plain = (value: string) => literal(value).startsWith("'") ? text(value) : value

/** JSON text as a literal of AnyJSON. */
function value(source: string): string {
  if (json(source) === undefined) return source.trim() || '[:]'
  const trimmed = source.trim().replace(/"(?:[^"\\]|\\.)*"|[{}]|\bnull\b/gs, (found) => found === '{' ? '[' : found === '}' ? ']' : found === 'null' ? '.null' : text(JSON.parse(found) as string))
  return trimmed === '[]' && source.trim() === '{}' ? '[:]' : trimmed
}

export function client(server: Server): string {
  return `import Supabase\n\nlet supabase = SupabaseClient(supabaseURL: URL(string: ${text(server.url)})!, supabaseKey: ${text(server.key)})\n`
}

export function swift(request: Request, server: Server): string {
  const lines: string[] = []
  const chosen = select(request)
  const schema = request.schema === server.schemas[0] ? '' : `.schema(${text(request.schema)})`
  const count = request.count ? `count: .${request.count}` : ''
  const call = (method: string, ...parts: string[]) => lines.push(`.${method}(${parts.filter(Boolean).join(', ')})`)
  let before = ''
  if (request.verb === 'rpc') {
    const given = argumentsText(request)
    if (given !== '{}') before = `let params: [String: AnyJSON] = ${value(given)}\n`
    call('rpc', text(request.name), given === '{}' ? '' : 'params: params', request.get ? 'get: true' : '', count)
  } else {
    lines.push(`.from(${text(request.name)})`)
    if (request.verb !== 'select' && request.verb !== 'delete') before = `let values: ${json(request.body) instanceof Array ? '[[String: AnyJSON]]' : '[String: AnyJSON]'} = ${value(request.body)}\n`
    if (request.verb === 'select') call('select', chosen === '*' ? '' : text(chosen), count)
    else if (request.verb === 'delete') call('delete', count)
    else call(request.verb, 'values', request.verb === 'upsert' && request.onConflict.length > 0 ? `onConflict: ${text(conflict(request))}` : '', count)
  }
  if (request.verb !== 'insert' && request.verb !== 'upsert') {
    for (const placed of placedFilters(request)) {
      const { is } = placed
      const column = text(key(placed))
      if (is.not) lines.push(`.filter(${column}, operator: ${text(`not.${is.op}`)}, value: ${text(operand(is))})`)
      else if (is.op === 'in') lines.push(`.in(${column}, values: [${elements(is.value).map(plain).join(', ')}])`)
      else if (is.op === 'is' && is.value !== 'unknown') lines.push(`.is(${column}, value: ${is.value === 'null' ? 'nil' : is.value})`)
      else if (is.op === 'like' || is.op === 'ilike') lines.push(`.${is.op}(${column}, pattern: ${text(is.value)})`)
      else if (['eq', 'neq', 'gt', 'gte', 'lt', 'lte'].includes(is.op)) lines.push(`.${is.op}(${column}, value: ${plain(is.value)})`)
      else lines.push(`.filter(${column}, operator: ${text(is.op)}, value: ${text(is.value)})`)
    }
  }
  // What select gives takes no conditions any more.
  if (request.verb === 'rpc' ? chosen !== '*' : request.verb !== 'select' && request.returning) call('select', chosen === '*' ? '' : text(chosen))
  if (request.verb === 'select' || request.verb === 'rpc') {
    for (const placed of placedOrders(request)) {
      for (const one of placed.is) call('order', text(orderText([{ column: one.column }]).replace(/\.asc$/, '')), one.descending ? 'ascending: false' : '', one.nulls ? `nullsFirst: ${one.nulls === 'first'}` : '', placed.at.length > 0 ? `referencedTable: ${text(at(placed.at))}` : '')
    }
    for (const placed of placedLimits(request)) call('limit', String(placed.is), `referencedTable: ${text(at(placed.at))}`)
    if (request.offset !== undefined && request.offset > 0 && request.limit !== undefined) call('range', `from: ${request.offset}`, `to: ${request.offset + request.limit - 1}`)
    else if (request.limit !== undefined) call('limit', String(request.limit))
  }
  if (request.single) call('single')
  return `${client(server)}\n${before}let response = try await supabase${schema}\n${lines.map((line) => `  ${line}`).join('\n')}\n  .execute()\n`
}
