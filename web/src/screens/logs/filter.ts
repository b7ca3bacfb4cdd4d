// The filter of requests as the address of the screen holds it.
import { router } from '../../app/router.svelte.ts'

export const names = ['status', 'method', 'route', 'text', 'ip', 'min_ms', 'since', 'until', 'request_id', 'role'] as const
type FilterName = (typeof names)[number]

/** The spans that can be chosen, in seconds. */
const spans: Record<string, number> = { '1m': 60, '5m': 300, '15m': 900, '1h': 3600, '24h': 86400, '7d': 604800 }

/** What is asked of the server. A span such as "the last hour" counts from now. */
export function asked(query: URLSearchParams): Record<string, string> {
  const values: Record<string, string> = {}
  for (const name of names) {
    const value = query.get(name)
    if (value) values[name] = value
  }
  const span = spans[query.get('last') ?? '']
  if (span && !values.since) values.since = new Date(Date.now() - span * 1000).toISOString()
  return values
}

/** Changes the filter, and begins at the first page. */
export function setFilter(values: Partial<Record<FilterName | 'last', string | null>>, replace = false): void {
  router.setQuery({ ...values, before: null, entry: null }, { replace })
}

export function clearFilter(): void {
  setFilter({ ...Object.fromEntries(names.map((name) => [name, null])), last: null })
}
