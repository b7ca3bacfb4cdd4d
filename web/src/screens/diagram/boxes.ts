// The boxes of a diagram: a table with its columns, how large it is drawn, and the lines between them.
import type { RelationBody } from '../../generated/admin.ts'

interface Line { name: string, type: string, key: boolean, points: boolean }
export interface Box { id: string, schema: string, name: string, lines: readonly Line[], more: number, width: number, height: number }
export interface Edge { id: string, from: string, to: string, fromLine: number, toLine: number, label: string }
export interface Point { x: number, y: number }

export const headHeight = 30
export const lineHeight = 20
const mostLines = 24
const charWidth = 7.2 // of the monospaced font at 12 px

export const idOf = (schema: string, name: string): string => `${schema} ${name}`

/** Cuts a text that would not fit a box. */
export function cut(text: string, most: number): string {
  const chars = [...text]
  return chars.length > most ? `${chars.slice(0, most - 1).join('')}…` : text
}

export function boxesOf(relations: readonly RelationBody[]): Box[] {
  return relations.map((relation) => {
    const points = new Set(relation.foreign_keys.flatMap((key) => key.columns))
    const columns = relation.columns.length > mostLines ? relation.columns.slice(0, mostLines - 1) : relation.columns
    const lines = columns.map((column) => ({ name: cut(column.name, 24), type: cut(column.type, 18), key: relation.primary_key.includes(column.name), points: points.has(column.name) }))
    const more = relation.columns.length - lines.length
    const widest = Math.max([...cut(relation.name, 36)].length + 4, ...lines.map((line) => [...line.name].length + [...line.type].length + 5))
    return {
      id: idOf(relation.schema, relation.name), schema: relation.schema, name: relation.name, lines, more,
      width: Math.max(140, Math.round(widest * charWidth + 24)), height: headHeight + (lines.length + (more > 0 ? 1 : 0)) * lineHeight + 6,
    }
  })
}

export function edgesOf(relations: readonly RelationBody[]): Edge[] {
  const at = new Map(relations.map((relation) => [idOf(relation.schema, relation.name), relation]))
  const lineOf = (relation: RelationBody, column: string | undefined) => Math.min(relation.columns.findIndex((each) => each.name === column), mostLines - 1)
  return relations.flatMap((relation) => relation.foreign_keys.flatMap((key): Edge[] => {
    const target = at.get(idOf(key.ref_schema, key.ref_table))
    if (!target) return []
    const from = idOf(relation.schema, relation.name)
    return [{ id: `${from} ${key.name}`, from, to: idOf(key.ref_schema, key.ref_table), fromLine: lineOf(relation, key.columns[0]), toLine: lineOf(target, key.ref_columns[0]), label: `${relation.name}.${key.columns.join(', ')} → ${key.ref_table}.${key.ref_columns.join(', ')}` }]
  }))
}

/** The curve of a foreign key: from the line of its column to that of the other, by the nearer sides. */
export function curve(edge: Edge, from: Box, a: Point, to: Box, b: Point): string {
  const y1 = a.y + headHeight + (Math.max(0, edge.fromLine) + 0.5) * lineHeight
  const y2 = b.y + headHeight + (Math.max(0, edge.toLine) + 0.5) * lineHeight
  const [aMiddle, bMiddle] = [a.x + from.width / 2, b.x + to.width / 2]
  const self = edge.from === edge.to
  const apart = !self && Math.abs(aMiddle - bMiddle) > (from.width + to.width) / 4
  const right1 = self || !apart || aMiddle < bMiddle
  const right2 = self || !apart || bMiddle < aMiddle
  const x1 = right1 ? a.x + from.width : a.x
  const x2 = right2 ? b.x + to.width : b.x
  const bend = Math.max(32, Math.min(120, Math.abs(x2 - x1) / 2))
  return `M${x1} ${y1}C${x1 + (right1 ? bend : -bend)} ${y1} ${x2 + (right2 ? bend : -bend)} ${y2} ${x2} ${y2}`
}

/** The rectangle around all boxes. */
export function extent(boxes: readonly Box[], at: ReadonlyMap<string, Point>): { x: number, y: number, width: number, height: number } {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const box of boxes) {
    const point = at.get(box.id)
    if (!point) continue
    left = Math.min(left, point.x)
    top = Math.min(top, point.y)
    right = Math.max(right, point.x + box.width)
    bottom = Math.max(bottom, point.y + box.height)
  }
  return left === Infinity ? { x: 0, y: 0, width: 1, height: 1 } : { x: left, y: top, width: right - left, height: bottom - top }
}
