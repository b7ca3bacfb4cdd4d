import { clampWidth } from './sizes.ts'
import type { Column, GridState, Sort } from './types.ts'

/** A column as it is laid out: where it starts (pixels), and its place in the rows of the source. */
export interface Placed {
  column: Column
  /** Index of its value in a row. */
  at: number
  left: number
  width: number
}

/** Columns in the order shown, without those hidden. */
export function arrange(columns: readonly Column[], state: Pick<GridState, 'order' | 'hidden' | 'widths'>, fitted: Readonly<Record<string, number>>): Placed[] {
  const hidden = new Set(state.hidden)
  let left = 0
  return inOrder(columns, state.order)
    .filter(({ column }) => !hidden.has(column.name))
    .map(({ column, at }) => {
      const width = clampWidth(state.widths[column.name] ?? fitted[column.name] ?? 0)
      const placed = { column, at, left, width }
      left += width
      return placed
    })
}

/** All columns in the order chosen; those the choice does not know follow in their own. */
export function inOrder(columns: readonly Column[], order: readonly string[]): { column: Column; at: number }[] {
  const rank = new Map(order.map((name, i) => [name, i]))
  return columns
    .map((column, at) => ({ column, at }))
    .sort((a, b) => (rank.get(a.column.name) ?? order.length) - (rank.get(b.column.name) ?? order.length) || a.at - b.at)
}

/** The order after a column has moved to where another one is (counted among all columns, hidden ones too). */
export function move(columns: readonly Column[], order: readonly string[], name: string, before: string | null): string[] {
  const names = inOrder(columns, order).map(({ column }) => column.name)
  if (name === before || !names.includes(name)) return names
  const rest = names.filter((n) => n !== name)
  const at = before === null ? rest.length : rest.indexOf(before)
  rest.splice(at < 0 ? rest.length : at, 0, name)
  return rest
}

/**
 * The order by which rows are asked for after a header was chosen: none → ascending → descending → none.
 * With `add` the other columns of the order stay, and this one keeps its place among them.
 */
export function nextSort(sort: readonly Sort[], column: string, add: boolean): Sort[] {
  const now = sort.find((s) => s.column === column)
  const next = !now ? { column, descending: false } : now.descending ? null : { column, descending: true }
  if (!add) return next ? [next] : []
  if (!next) return sort.filter((s) => s.column !== column)
  return now ? sort.map((s) => (s.column === column ? next : s)) : [...sort, next]
}

/** First and last (excluded) of the columns, sorted by left edge, that meet the pixels from…to. */
export function columnsWithin(columns: readonly Placed[], from: number, to: number): [number, number] {
  let low = 0
  let high = columns.length
  while (low < high) {
    const middle = (low + high) >> 1
    const c = columns[middle]!
    if (c.left + c.width <= from) low = middle + 1
    else high = middle
  }
  let end = low
  while (end < columns.length && columns[end]!.left < to) end++
  return [low, end]
}
