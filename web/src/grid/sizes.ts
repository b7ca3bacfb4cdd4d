import { isMono } from './kinds.ts'
import { shorten } from './display.ts'
import type { Column, Density, Kind, Row } from './types.ts'

/** Pixels. */
export const rowHeights: Readonly<Record<Density, number>> = { compact: 28, normal: 32, roomy: 44 }

const narrowest = 48
const widest = 1200
/** What a column is given by itself at most: a person may make it wider. */
const widestByContent = 360
/** Padding at both sides, and the line between columns. */
const padding = 21
/** What a header shows beside name and type: padding, gaps and the button of the menu; and the mark of a key. */
const headerExtras = 60
const keyMark = 20
/** Of a type's name at most. */
const typeShown = 72

/** What stands for the values of a column in which none is seen yet. Kinds not named are no longer than their headers. */
const typical: Readonly<Partial<Record<Kind, string>>> = {
  text: 'A few words of some text',
  json: '{"name": "value", "n": 1}',
  array: '{one,two,three}',
  timestamp: '2026-03-01 12:00:00.123456+00',
  uuid: '00000000-0000-4000-8000-000000000000',
  bytea: '64 B \\x0123456789abcdef',
  other: 'a value of its type',
}

/** Pixels that a text takes in the font of cells (mono or not). */
export type Measure = (text: string, mono: boolean) => number

export function clampWidth(width: number): number {
  return Math.round(Math.min(widest, Math.max(narrowest, width)))
}

/** Widths by column name that show the rows given, within reason; without values, what is usual for the kind. */
export function fitWidths(columns: readonly Column[], rows: readonly Row[], measure: Measure): Record<string, number> {
  const widths: Record<string, number> = {}
  columns.forEach((column, at) => {
    const type = Math.min(typeShown, measure(column.type, true))
    let width = measure(column.name, false) + type + headerExtras + (column.key ? keyMark : 0)
    const mono = isMono(column.kind)
    const reference = column.reference ? 24 : 0
    const values = rows.flatMap((row) => row[at] ?? [])
    // A moment is as long as its fraction happens to be: the next one may be longer.
    if (values.length === 0 || column.kind === 'timestamp') values.push(typical[column.kind] ?? '')
    for (const value of values) {
      width = Math.max(width, measure(shorten(value, 60), mono) + padding + reference)
      if (width >= widestByContent) break
    }
    widths[column.name] = clampWidth(Math.ceil(Math.min(width, widestByContent)))
  })
  return widths
}
