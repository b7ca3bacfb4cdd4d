import { isMono } from './kinds'
import { shorten } from './display'
import type { Column, Density, Row } from './types'

/** Pixels. */
export const rowHeights: Readonly<Record<Density, number>> = { compact: 28, normal: 32, roomy: 44 }

export const narrowest = 48
export const widest = 1200
/** What a column is given by itself at most: a person may make it wider. */
const widestByContent = 360
/** Padding at both sides, and the line between columns. */
const padding = 21
/** Icon of the type, mark of the order and button of the menu in a header. */
const headerExtras = 62

/** Pixels that a text takes in the font of cells (mono or not). */
export type Measure = (text: string, mono: boolean) => number

export function clampWidth(width: number): number {
  return Math.round(Math.min(widest, Math.max(narrowest, width)))
}

/** Widths by column name that show the rows given, within reason. */
export function fitWidths(columns: readonly Column[], rows: readonly Row[], measure: Measure): Record<string, number> {
  const widths: Record<string, number> = {}
  columns.forEach((column, at) => {
    let width = measure(column.name, false) + headerExtras
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
