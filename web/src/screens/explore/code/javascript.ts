// JavaScript with supabase-js.
import { argumentsText, at, conflict, elements, key, operand, orderText, placedFilters, placedLimits, placedOrders, select } from './url.ts'
import { laidOut, type Request, type Server } from './place.ts'

const methods: Record<string, string> = {
  eq: 'eq', neq: 'neq', gt: 'gt', gte: 'gte', lt: 'lt', lte: 'lte', like: 'like', ilike: 'ilike', is: 'is', cs: 'contains', cd: 'containedBy', ov: 'overlaps',
  sl: 'rangeLt', sr: 'rangeGt', nxr: 'rangeLte', nxl: 'rangeGte', adj: 'rangeAdjacent',
}

const text = (value: string) => `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`

export function client(server: Server): string {
  return `import { createClient } from '@supabase/supabase-js'\n\nconst supabase = createClient(${text(server.url)}, ${text(server.key)})\n`
}

/** The call alone, which gives a promise of { data, error }. */
function call(request: Request, server: Server): string {
  const lines: string[] = []
  const schema = request.schema === server.schemas[0] ? '' : `.schema(${text(request.schema)})`
  const count = request.count ? `count: ${text(request.count)}` : ''
  const options = (...parts: string[]) => parts.some(Boolean) ? `, { ${parts.filter(Boolean).join(', ')} }` : ''
  const chosen = select(request)
  if (request.verb === 'rpc') {
    const given = argumentsText(request)
    lines.push(`supabase${schema}`, `.rpc(${text(request.name)}${given !== '{}' || request.get || count ? `, ${laidOut(given, '  ')}` : ''}${options(request.get ? 'get: true' : '', count)})`)
    if (request.columns.length + request.embeds.length > 0) lines.push(`.select(${text(chosen)})`)
  } else {
    lines.push(`supabase${schema}`, `.from(${text(request.name)})`)
    const body = laidOut(request.body, '  ')
    if (request.verb === 'select') lines.push(`.select(${chosen === '*' && !count ? '' : text(chosen)}${options(count)})`)
    else if (request.verb === 'insert') lines.push(`.insert(${body}${options(count)})`)
    else if (request.verb === 'upsert') lines.push(`.upsert(${body}${options(request.onConflict.length > 0 ? `onConflict: ${text(conflict(request))}` : '', count)})`)
    else if (request.verb === 'update') lines.push(`.update(${body}${options(count)})`)
    else lines.push(`.delete(${count ? `{ ${count} }` : ''})`)
    if (request.verb !== 'select' && request.returning) lines.push(`.select(${chosen === '*' ? '' : text(chosen)})`)
  }
  if (request.verb !== 'insert' && request.verb !== 'upsert') {
    for (const placed of placedFilters(request)) {
      const { is } = placed
      const method = methods[is.op]
      const column = text(key(placed))
      if (is.not) lines.push(`.not(${column}, ${text(is.op)}, ${text(operand(is))})`)
      else if (is.op === 'is' && ['null', 'true', 'false'].includes(is.value)) lines.push(`.is(${column}, ${is.value})`)
      else if (is.op === 'in') lines.push(plainList(is.value) ? `.in(${column}, [${elements(is.value).map(literal).join(', ')}])` : `.filter(${column}, 'in', ${text(operand(is))})`)
      else if (method) lines.push(`.${method}(${column}, ${['eq', 'neq', 'gt', 'gte', 'lt', 'lte'].includes(is.op) ? literal(is.value) : text(is.value)})`)
      else lines.push(`.filter(${column}, ${text(is.op)}, ${text(is.value)})`)
    }
  }
  if (request.verb === 'select' || request.verb === 'rpc') {
    for (const placed of placedOrders(request)) {
      for (const one of placed.is) {
        const column = orderText([{ column: one.column }]).replace(/\.asc$/, '')
        const parts = [one.descending ? 'ascending: false' : '', one.nulls ? `nullsFirst: ${one.nulls === 'first'}` : '', placed.at.length > 0 ? `referencedTable: ${text(at(placed.at))}` : '']
        lines.push(`.order(${text(column)}${options(...parts)})`)
      }
    }
    for (const placed of placedLimits(request)) lines.push(`.limit(${placed.is}, { referencedTable: ${text(at(placed.at))} })`)
    if (request.offset !== undefined && request.offset > 0 && request.limit !== undefined) lines.push(`.range(${request.offset}, ${request.offset + request.limit - 1})`)
    else if (request.limit !== undefined) lines.push(`.limit(${request.limit})`)
  }
  if (request.single) lines.push('.single()')
  return lines[0] + '\n' + lines.slice(1).map((line) => `  ${line}`).join('\n')
}

/** A number where JavaScript writes it back as it is, else a text. */
export function literal(value: string): string {
  return /^-?(0|[1-9]\d*)(\.\d*[1-9])?$/.test(value) && String(Number(value)) === value || value === 'true' || value === 'false' ? value : text(value)
}

/** The library quotes elements with a comma or a parenthesis alone: others must need no quotes. */
function plainList(value: string): boolean { return elements(value).every((one) => !/["\\]/.test(one) && one !== '' && one.toLowerCase() !== 'null' && !/^\s|\s$/.test(one)) }

export function javascript(request: Request, server: Server): string {
  return `${client(server)}\nconst { data, error${request.count ? ', count' : ''} } = await ${call(request, server)}\n`
}
