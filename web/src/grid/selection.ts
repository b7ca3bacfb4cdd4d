import type { Selected } from './types.ts'

export interface Position {
  row: number
  column: number
}

/** A rectangle of cells, all four edges included. */
export interface Range {
  top: number
  bottom: number
  left: number
  right: number
}

export function rangeOf(a: Position, b: Position): Range {
  return {
    top: Math.min(a.row, b.row),
    bottom: Math.max(a.row, b.row),
    left: Math.min(a.column, b.column),
    right: Math.max(a.column, b.column),
  }
}

export function contains(range: Range, row: number, column: number): boolean {
  return row >= range.top && row <= range.bottom && column >= range.left && column <= range.right
}

export function cellsIn(range: Range): number {
  return (range.bottom - range.top + 1) * (range.right - range.left + 1)
}

export function isSelected(selected: Selected, key: string): boolean {
  return selected.all !== selected.keys.includes(key)
}

/** Ticks (or not) the rows with these keys. */
export function select(selected: Selected, keys: readonly string[], on: boolean): Selected {
  const named = new Set(selected.keys)
  for (const key of keys) {
    if (on === selected.all) named.delete(key)
    else named.add(key)
  }
  return { all: selected.all, keys: [...named] }
}

/** How many of `count` rows are ticked. */
export function selectedCount(selected: Selected, count: number): number {
  return selected.all ? Math.max(0, count - selected.keys.length) : selected.keys.length
}

/** The text that names a row among others: its key values, unambiguous. */
export function rowKey(values: readonly (string | null)[]): string {
  return values.length === 1 && values[0] !== null && values[0] !== undefined && !values[0].startsWith('[')
    ? values[0]
    : JSON.stringify(values)
}
