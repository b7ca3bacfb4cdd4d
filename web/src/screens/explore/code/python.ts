// Python with supabase-py.
import { at, conflict, elements, json, key, operand, orderText, placedFilters, placedLimits, placedOrders, select, values } from './url.ts'
import { quoted, type Request, type Server } from './place.ts'
import { literal } from './javascript.ts'

// The methods for ranges take their two ends, not a range with brackets: those go through filter.
const methods: Record<string, string> = { eq: 'eq', neq: 'neq', gt: 'gt', gte: 'gte', lt: 'lt', lte: 'lte', like: 'like', ilike: 'ilike' }

const text = (value: string) => quoted(value)
const plain = (value: string) => value === 'true' ? 'True' : value === 'false' ? 'False' : literal(value).startsWith("'") ? text(value) : value

/** JSON text as an expression: only the three words differ. */
function value(source: string): string {
  if (json(source) === undefined) return source.trim() || '{}'
  return source.trim().replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/gs, (found) => ({ true: 'True', false: 'False', null: 'None' })[found] ?? found)
}

export function client(server: Server): string {
  return `from supabase import create_client\n\nsupabase = create_client(${text(server.url)}, ${text(server.key)})\n`
}

export function python(request: Request, server: Server): string {
  const lines: string[] = []
  const chosen = select(request)
  const schema = request.schema === server.schemas[0] ? '' : `.schema(${text(request.schema)})`
  const count = request.count ? `count=${text(request.count)}` : ''
  const call = (method: string, ...parts: string[]) => lines.push(`.${method}(${parts.filter(Boolean).join(', ')})`)
  if (request.verb === 'rpc') {
    call('rpc', text(request.name), Object.keys(values(request)).length > 0 ? value(`{${request.arguments.filter((one) => one.name !== '').map((one) => `${JSON.stringify(one.name)}: ${json(one.value) === undefined ? JSON.stringify(one.value) : one.value.trim()}`).join(', ')}}`) : '{}', request.get ? 'get=True' : '', count)
    if (chosen !== '*') call('select', text(chosen))
  } else {
    lines.push(`.table(${text(request.name)})`)
    if (request.verb === 'select') call('select', text(chosen), count)
    else if (request.verb === 'delete') call('delete', count, request.returning ? '' : 'returning="minimal"')
    else call(request.verb, value(request.body), request.onConflict.length > 0 && request.verb === 'upsert' ? `on_conflict=${text(conflict(request))}` : '', count, request.returning ? '' : 'returning="minimal"')
  }
  if (request.verb !== 'insert' && request.verb !== 'upsert') {
    for (const placed of placedFilters(request)) {
      const { is } = placed
      const column = text(key(placed))
      const not = is.not ? '.not_' : ''
      if (is.op === 'in') lines.push(`${not}.in_(${column}, [${elements(is.value).map(plain).join(', ')}])`)
      else if (is.op === 'is') lines.push(`${not}.is_(${column}, ${text(is.value)})`)
      else if (methods[is.op]) lines.push(`${not}.${methods[is.op]}(${column}, ${/like/.test(methods[is.op]!) ? text(is.value) : plain(is.value)})`)
      else lines.push(`${not}.filter(${column}, ${text(is.op)}, ${text(operand(is))})`)
    }
  }
  if (request.verb === 'select' || request.verb === 'rpc') {
    for (const placed of placedOrders(request)) {
      for (const one of placed.is) call('order', text(orderText([{ column: one.column }]).replace(/\.asc$/, '')), one.descending ? 'desc=True' : '', one.nulls ? `nullsfirst=${one.nulls === 'first' ? 'True' : 'False'}` : '', placed.at.length > 0 ? `foreign_table=${text(at(placed.at))}` : '')
    }
    for (const placed of placedLimits(request)) call('limit', String(placed.is), `foreign_table=${text(at(placed.at))}`)
    if (request.offset !== undefined && request.offset > 0 && request.limit !== undefined) call('range', String(request.offset), String(request.offset + request.limit - 1))
    else if (request.limit !== undefined) call('limit', String(request.limit))
    if (request.single) call('single')
  } else if (request.returning && chosen !== '*') call('select', text(chosen))
  return `${client(server)}\nresponse = (\n    supabase${schema}\n${lines.map((line) => `    ${line}`).join('\n')}\n    .execute()\n)\nprint(response.data)\n`
}
