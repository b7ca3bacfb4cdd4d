// What a person has arranged, in the query of the dashboard's address.
import type { QueryValues } from '../../app/router.svelte.ts'
import { initialState, type Density, type GridState } from '../../grid/types.ts'
import { decodeFilter, decodeName, encodeFilter, encodeName, type Filter } from './filters.ts'

/** Ticked rows that an address holds at most: more are kept until the page is left. */
const mostKeys = 40

function names(text: string | null): string[] {
  return text ? text.split(',').map(decodeName) : []
}

export function filtersIn(query: URLSearchParams): Filter[] {
  return query.getAll('f').flatMap((text) => decodeFilter(text) ?? [])
}

export function filtersAsQuery(filters: readonly Filter[]): QueryValues {
  return { f: filters.map(encodeFilter), row: null, sel: null }
}

/** The arrangement of the grid but for what is ticked. */
export function stateIn(query: URLSearchParams): GridState {
  const density = query.get('density')
  return {
    ...initialState,
    sort: (query.get('sort') ?? '').split(',').filter(Boolean).map((text) => {
      const [name, direction] = text.split('.')
      return { column: decodeName(name!), descending: direction === 'desc' }
    }),
    order: names(query.get('columns')),
    hidden: names(query.get('hide')),
    frozen: Math.max(0, Math.trunc(Number(query.get('frozen')))) || 0,
    widths: Object.fromEntries((query.get('widths') ?? '').split(',').flatMap((text) => {
      const [name, width] = text.split(':')
      return Number(width) > 0 ? [[decodeName(name!), Number(width)]] : []
    })),
    density: density === 'compact' || density === 'roomy' ? density as Density : 'normal',
    row: Math.max(0, Math.trunc(Number(query.get('row')))) || 0,
  }
}

export function selectedIn(query: URLSearchParams): GridState['selected'] {
  return { all: false, keys: names(query.get('sel')) }
}

/** What changes in the address for another arrangement; `replace` when going back should not stop at it. */
export function changeOf(before: GridState, after: GridState): { values: QueryValues, replace: boolean } {
  const values: QueryValues = {}
  let replace = true
  if (after.sort !== before.sort) {
    values.sort = after.sort.map(({ column, descending }) => encodeName(column) + (descending ? '.desc' : '')).join(',')
    values.row = null
    replace = false
  } else if (after.row !== before.row) values.row = after.row || null
  if (after.order !== before.order) values.columns = after.order.map(encodeName).join(',')
  if (after.hidden !== before.hidden) values.hide = after.hidden.map(encodeName).join(',')
  if (after.frozen !== before.frozen) values.frozen = after.frozen || null
  if (after.density !== before.density) values.density = after.density === 'normal' ? null : after.density
  if (after.widths !== before.widths) {
    values.widths = Object.entries(after.widths).map(([name, width]) => `${encodeName(name)}:${width}`).join(',')
  }
  if (after.selected !== before.selected) {
    const { all, keys } = after.selected
    values.sel = all || keys.length > mostKeys ? null : keys.map(encodeName).join(',')
  }
  return { values, replace }
}
