import type { Placed } from './columns.ts'
import { isMono, isNumber } from './kinds.ts'
import type { Model, Shown } from './model.svelte.ts'
import { contains, type Range } from './selection.ts'
import type { Row, Value } from './types.ts'
import type { Slot } from './window.ts'

/** A cell as its element shows it, worked out at once: hundreds of them are drawn while rows scroll by. */
export interface Cell {
  /** Its element's. */
  key: number
  placed: Placed
  index: number
  value: Value | undefined
  class: string
  /** Pixels from the left; from the edge of the view for columns that stay. */
  left: number
  active: boolean
  selected: boolean
  readonly: boolean
  fault: boolean
  /** What is said of it beside its value. */
  said: string
  /** Whether its foreign key can be looked at. */
  leads: boolean
}

/** The cells of a row, each made once. `active` is the index of the active one, if it is in this row. */
export function cellsOf(
  model: Model,
  row: number,
  { loaded, draft }: Pick<Shown, 'loaded' | 'draft'>,
  active: number | null,
  range: Range | null,
): (slot: Slot) => Cell {
  const values = Array.isArray(loaded) ? (loaded as Row) : null
  const { columns, frozen, gutter, editable } = model
  const looks = model.given.lookup !== undefined
  const made = new Map<Slot, Cell>()

  function make({ key, at: index }: Slot): Cell {
    const placed = columns[index]!
    const { column, at, left } = placed
    const edited = draft?.set.has(column.name) ?? false
    const value = edited ? draft!.set.get(column.name) : values ? (values[at] ?? null) : undefined
    const reason = model.fault(draft, column)
    const within = range !== null && contains(range, row, index)
    let look = 'cell'
    if (isNumber(column.kind)) look += ' number'
    if (isMono(column.kind)) look += ' mono'
    if (index < frozen) look += ' frozen'
    if (index === frozen - 1) look += ' edge'
    if (column.readonly) look += ' readonly'
    if (edited) look += ' edited'
    if (reason !== null) look += ' fault'
    if (within) look += ' within' + edges(range, row, index)
    return {
      key,
      placed,
      index,
      value,
      class: look,
      left: gutter + left,
      active: active === index,
      selected: within || active === index,
      readonly: editable && column.readonly === true,
      fault: reason !== null,
      said: !edited ? '' : reason === null ? 'not saved' : `refused: ${reason}`,
      leads: looks && column.reference !== undefined && typeof value === 'string',
    }
  }

  return (slot) => {
    let cell = made.get(slot)
    if (!cell) made.set(slot, (cell = make(slot)))
    return cell
  }
}

/** Which edges of a range a cell is at. */
function edges({ top, bottom, left, right }: Range, row: number, index: number): string {
  return (row === top ? ' top' : '') + (row === bottom ? ' bottom' : '') + (index === left ? ' start' : '') + (index === right ? ' end' : '')
}
