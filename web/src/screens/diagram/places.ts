// Where a person has moved the boxes of a diagram, kept on their device.
import type { Point } from './boxes.ts'

const key = (administrator: string, schema: string) => `basalt.diagram.${administrator}.${schema}`

export function kept(administrator: string, schema: string): Record<string, Point> {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(key(administrator, schema)) ?? '{}')
    return typeof found === 'object' && found !== null ? Object.fromEntries(Object.entries(found as Record<string, Point>).filter(([, point]) => Number.isFinite(point?.x) && Number.isFinite(point?.y))) : {}
  } catch {
    return {}
  }
}

export function keep(administrator: string, schema: string, places: Record<string, Point>): void {
  try {
    if (Object.keys(places).length === 0) localStorage.removeItem(key(administrator, schema))
    else localStorage.setItem(key(administrator, schema), JSON.stringify(places))
  } catch {
    // they hold until the page is closed
  }
}
