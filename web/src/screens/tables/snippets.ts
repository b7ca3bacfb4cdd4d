// The requests of an app that give what the screen shows.
import type { Sort } from '../../grid/types.ts'
import { restCondition, restName, sdkCall, type Filter } from './filters.ts'

export interface Shown {
  /** Where the API is. */
  api: string
  schema: string
  table: string
  filters: readonly Filter[]
  sort: readonly Sort[]
}

// What a query may hold as it is, so that it can be read.
function encode(text: string): string {
  return encodeURIComponent(text).replace(/%(2C|3A|2A|40|24|7B|7D)/g, (found) => decodeURIComponent(found))
}

/** The address of the rows. */
export function appRequest({ api, table, filters, sort }: Shown): string {
  const parameters = ['select=*', ...filters.map((filter) => `${encode(restName(filter.column))}=${encode(restCondition(filter))}`)]
  if (sort.length > 0) parameters.push(`order=${sort.map(({ column, descending }) => encode(restName(column)) + (descending ? '.desc' : '.asc')).join(',')}`)
  return `${api.replace(/\/$/, '')}/rest/v1/${encodeURIComponent(table)}?${parameters.join('&')}`
}

function shell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

export function curl(of: Shown): string {
  const profile = of.schema === 'public' ? '' : ` \\\n  -H ${shell(`Accept-Profile: ${of.schema}`)}`
  return `curl ${shell(appRequest(of))} \\\n  -H "apikey: $ANON_KEY" \\\n  -H "Authorization: Bearer $TOKEN"${profile}`
}

export function supabaseJS({ api, schema, table, filters, sort }: Shown): string {
  const lines = [
    `const supabase = createClient(${JSON.stringify(api.replace(/\/$/, ''))}, ANON_KEY)`,
    `const { data, error } = await supabase`,
    ...(schema === 'public' ? [] : [`  .schema(${JSON.stringify(schema)})`]),
    `  .from(${JSON.stringify(table)})`,
    `  .select()`,
    ...filters.map((filter) => '  ' + sdkCall(filter)),
    ...sort.map(({ column, descending }) => `  .order(${JSON.stringify(column)}${descending ? ', { ascending: false }' : ''})`),
  ]
  return lines.join('\n')
}

/** How an app adds a row. */
export function insertSnippet(api: string, table: string, columns: readonly string[]): string {
  const body = JSON.stringify(Object.fromEntries(columns.map((name) => [name, '…'])))
  return `curl -X POST ${shell(`${api.replace(/\/$/, '')}/rest/v1/${encodeURIComponent(table)}`)} \\\n  -H "apikey: $ANON_KEY" \\\n  -H "Authorization: Bearer $TOKEN" \\\n  -H 'Content-Type: application/json' \\\n  -d ${shell(body)}`
}
