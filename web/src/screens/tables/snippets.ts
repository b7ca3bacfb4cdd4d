// The requests of an app that give what the screen shows.
import type { Viewer } from '../../app/viewas.svelte.ts'
import type { Sort } from '../../grid/types.ts'
import { word } from '../../kit/shell.ts'
import { restName } from '../../app/restname.ts'
import { restCondition, sdkCall, type Filter } from './filters.ts'

interface Shown {
  /** Where the API is. */
  api: string
  /** The anon key, undefined while it is not known. */
  key: string | undefined
  /** As whom the rows are seen. */
  viewer: Viewer | undefined
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

/** What tells the API as whom a request acts: the anon key alone is anon, every other role of users comes with a token. */
export function identityOf(viewer: Viewer | undefined): 'anon' | 'service' | 'user' {
  return viewer === undefined || viewer.role === 'anon' ? 'anon' : viewer.role === 'service_role' ? 'service' : 'user'
}

/** The headers with the key, or with a variable of the shell in its place. Secrets are variables always. */
function identified(key: string | undefined, viewer: Viewer | undefined): string {
  const identity = identityOf(viewer)
  if (identity === 'service') return `-H "apikey: $SERVICE_KEY" \\\n  -H "Authorization: Bearer $SERVICE_KEY"`
  if (identity === 'user') return `${key === undefined ? '-H "apikey: $ANON_KEY"' : `-H ${word(`apikey: ${key}`)}`} \\\n  -H "Authorization: Bearer $ACCESS_TOKEN"`
  return key === undefined ? `-H "apikey: $ANON_KEY" \\\n  -H "Authorization: Bearer $ANON_KEY"` : `-H ${word(`apikey: ${key}`)} \\\n  -H ${word(`Authorization: Bearer ${key}`)}`
}

export function curl(of: Shown): string {
  const profile = of.schema === 'public' ? '' : ` \\\n  -H ${word(`Accept-Profile: ${of.schema}`)}`
  return `curl ${word(appRequest(of))} \\\n  ${identified(of.key, of.viewer)}${profile}`
}

/** How the user signs in: by address or number, where it is known. */
function credentials(viewer: Viewer | undefined): string {
  const name = viewer?.label
  return name === undefined || name === viewer?.user ? 'email: EMAIL' : name.includes('@') ? `email: ${JSON.stringify(name)}` : `phone: ${JSON.stringify(name)}`
}

export function supabaseJS({ api, key, viewer, schema, table, filters, sort }: Shown): string {
  const lines = [
    `const supabase = createClient(${JSON.stringify(api.replace(/\/$/, ''))}, ${identityOf(viewer) === 'service' ? 'SERVICE_KEY' : key === undefined ? 'ANON_KEY' : JSON.stringify(key)})`,
    ...(identityOf(viewer) === 'user' ? [`await supabase.auth.signInWithPassword({ ${credentials(viewer)}, password: PASSWORD })`] : []),
    `const { data, error } = await supabase`,
    ...(schema === 'public' ? [] : [`  .schema(${JSON.stringify(schema)})`]),
    `  .from(${JSON.stringify(table)})`,
    `  .select()`,
    ...filters.map((filter) => '  ' + sdkCall(filter)),
    ...sort.map(({ column, descending }) => `  .order(${JSON.stringify(restName(column))}${descending ? ', { ascending: false }' : ''})`),
  ]
  return lines.join('\n')
}

/** How an app adds a row. */
export function insertSnippet(api: string, key: string | undefined, viewer: Viewer | undefined, table: string, columns: readonly string[]): string {
  const body = JSON.stringify(Object.fromEntries(columns.map((name) => [name, '…'])))
  return `curl -X POST ${word(`${api.replace(/\/$/, '')}/rest/v1/${encodeURIComponent(table)}`)} \\\n  ${identified(key, viewer)} \\\n  -H 'Content-Type: application/json' \\\n  -d ${word(body)}`
}
