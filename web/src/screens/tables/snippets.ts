// The requests of an app that give what the screen shows.
import type { Sort } from '../../grid/types.ts'
import { restCondition, restName, sdkCall, type Filter } from './filters.ts'

interface Shown {
  /** Where the API is. */
  api: string
  /** The anonymous key, undefined while it is not known. */
  key: string | undefined
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

/** The headers with the key, or with a variable of the shell in its place. */
function identified(key: string | undefined): string {
  return key === undefined ? `-H "apikey: $ANON_KEY" \\\n  -H "Authorization: Bearer $ANON_KEY"` : `-H ${shell(`apikey: ${key}`)} \\\n  -H ${shell(`Authorization: Bearer ${key}`)}`
}

export function curl(of: Shown): string {
  const profile = of.schema === 'public' ? '' : ` \\\n  -H ${shell(`Accept-Profile: ${of.schema}`)}`
  return `curl ${shell(appRequest(of))} \\\n  ${identified(of.key)}${profile}`
}

export function supabaseJS({ api, key, schema, table, filters, sort }: Shown): string {
  const lines = [
    `const supabase = createClient(${JSON.stringify(api.replace(/\/$/, ''))}, ${key === undefined ? 'ANON_KEY' : JSON.stringify(key)})`,
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
export function insertSnippet(api: string, key: string | undefined, table: string, columns: readonly string[]): string {
  const body = JSON.stringify(Object.fromEntries(columns.map((name) => [name, '…'])))
  return `curl -X POST ${shell(`${api.replace(/\/$/, '')}/rest/v1/${encodeURIComponent(table)}`)} \\\n  ${identified(key)} \\\n  -H 'Content-Type: application/json' \\\n  -d ${shell(body)}`
}
