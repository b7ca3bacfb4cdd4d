import { isMono } from './kinds.ts'
import { shorten } from './display.ts'
import type { Column, Density, Row } from './types.ts'

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

/** Pixels that a text takes in the font of cells (mono or not). */
export type Measure = (text: string, mono: boolean) => number

export function clampWidth(width: number): number {
  return Math.round(Math.min(widest, Math.max(narrowest, width)))
}

/** Widths by column name that show the rows given, within reason. */
export function fitWidths(columns: readonly Column[], rows: readonly Row[], measure: Measure): Record<string, number> {
  const widths: Record<string, number> = {}
  columns.forEach((column, at) => {
    const type = Math.min(typeShown, measure(column.type, true))
    let width = measure(column.name, false) + type + headerExtras + (column.key ? keyMark : 0)
    const mono = isMono(column.kind)
    for (const row of rows) {
      const value = row[at]
      if (value == null) continue
      const reference = column.reference ? 24 : 0
      width = Math.max(width, measure(shorten(value, 60), mono) + padding + reference)
      if (width >= widestByContent) break
    }
    widths[column.name] = clampWidth(Math.min(width, widestByContent))
  })
  return widths
}
