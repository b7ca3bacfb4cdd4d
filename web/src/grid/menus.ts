import type { MenuItem } from '../kit/menu.ts'
import { move, nextSort } from './columns.ts'
import { gutterColumn, headerRow, type Model } from './model.svelte.ts'
import { allowsEmpty } from './kinds.ts'
import { clampWidth } from './sizes.ts'
import { clear, copy } from './transfer.ts'

/** What a menu asks of the grid itself. */
interface Opens {
  whole(row: number, column: number): void
  peek(row: number, column: number): void
}

/** Sorts by a column and says so. */
export function sortBy(model: Model, index: number, add: boolean): void {
  const name = model.columns[index]?.column.name
  if (name === undefined) return
  const sort = nextSort(model.given.state.sort, name, add)
  model.emit({ sort })
  const now = sort.find((s) => s.column === name)
  model.say(!now ? `${name} no longer sorts` : `Sorted by ${name}, ${now.descending ? 'descending' : 'ascending'}`)
}

export function resize(model: Model, index: number, by: number): void {
  const placed = model.columns[index]
  if (!placed) return
  const width = clampWidth(placed.width + by)
  model.emit({ widths: { ...model.given.state.widths, [placed.column.name]: width } })
  model.say(`${width} pixels wide`)
}

/** Moves a column by places among those shown; the focus goes with it. */
export function moveColumn(model: Model, index: number, by: number): void {
  const placed = model.columns[index]
  const to = index + by
  if (!placed || to < 0 || to >= model.columns.length) return
  const before = model.columns[by > 0 ? to + 1 : to]?.column.name ?? null
  model.emit({ order: move(model.given.columns, model.given.state.order, placed.column.name, before) })
  model.say(`${placed.column.name} is now column ${to + 1}`)
  void model.go(model.active.row, to)
}

/** Groups with a line between those that are not empty. */
function grouped(groups: readonly MenuItem[][]): MenuItem[] {
  return groups.filter((g) => g.length > 0).flatMap((g, i) => (i === 0 ? g : [{ kind: 'line' as const }, ...g]))
}

export function columnMenu(model: Model, index: number): MenuItem[] {
  const { column } = model.columns[index]!
  const { state } = model.given
  const others = state.sort.filter((s) => s.column !== column.name)
  const by = (descending: boolean, add: boolean) => () => {
    model.emit({ sort: [...(add ? others : []), { column: column.name, descending }] })
    model.say(`Sorted by ${column.name}, ${descending ? 'descending' : 'ascending'}`)
  }
  const order: MenuItem[] = [
    { label: 'Sort ascending', icon: 'arrow-up', keys: '⏎', run: by(false, false) },
    { label: 'Sort descending', icon: 'arrow-down', run: by(true, false) },
  ]
  if (others.length > 0) {
    order.push(
      { label: 'Then by this, ascending', keys: 'Shift ⏎', run: by(false, true) },
      { label: 'Then by this, descending', run: by(true, true) },
    )
  }
  if (others.length < state.sort.length) order.push({ label: 'Do not sort by this', icon: 'x', run: () => model.emit({ sort: others }) })
  const place: MenuItem[] = [
    { label: 'Move to the left', icon: 'arrow-left', keys: 'Ctrl Shift ←', disabled: index === 0, run: () => moveColumn(model, index, -1) },
    { label: 'Move to the right', icon: 'arrow-right', keys: 'Ctrl Shift →', disabled: index === model.columns.length - 1, run: () => moveColumn(model, index, 1) },
    { label: 'Wider', keys: 'Shift →', run: () => resize(model, index, 48) },
    { label: 'Narrower', keys: 'Shift ←', run: () => resize(model, index, -48) },
    { label: 'As wide as its content', run: () => fit(model, column.name) },
  ]
  const stay: MenuItem[] = []
  if (state.frozen !== index + 1) stay.push({ label: 'Freeze up to this column', icon: 'pin', run: () => model.emit({ frozen: index + 1 }) })
  if (state.frozen > 0) stay.push({ label: 'Freeze no column', icon: 'pin-off', run: () => model.emit({ frozen: 0 }) })
  if (model.columns.length > 1) {
    stay.push({ label: 'Hide', icon: 'eye-off', run: () => model.emit({ hidden: [...state.hidden, column.name] }) })
  }
  return grouped([order, place, stay])
}

/** Gives a column back the width that its content needs. */
export function fit(model: Model, name: string): void {
  const { [name]: _, ...widths } = model.given.state.widths
  model.emit({ widths })
}

export function cellMenu(model: Model, row: number, index: number, opens: Opens): MenuItem[] {
  const placed = model.columns[index]
  const { draft, loaded, id } = model.shown(row)
  const { onopen, onremove, refused } = model.given
  const stored = Array.isArray(loaded)
  /** The row can be changed, or could be but for the reason that is shown. */
  const changes = refused === undefined ? model.editable && id !== null : stored
  const look: MenuItem[] = []
  const change: MenuItem[] = []
  const rows: MenuItem[] = []
  if (placed) {
    const { column } = placed
    const value = model.value(row, placed)
    const become = (to: string | undefined) => () => {
      model.setCells([{ row, column: placed, value: to }])
      void model.focus()
    }
    if (changes && !column.readonly) {
      look.push({ label: 'Edit', icon: 'pencil', keys: '⏎', refused, run: () => model.edit() })
      if (column.nullable) change.push({ label: 'Set to NULL', keys: 'Del', refused, run: () => void clear(model) })
      if (allowsEmpty(column.kind)) change.push({ label: 'Set to empty text', refused, run: become('') })
      if (draft?.set.has(column.name)) {
        change.push({ label: draft.was ? 'Take this change back' : 'Leave to the default', icon: 'undo-2', run: become(undefined) })
      }
    }
    look.push({ label: 'Copy', icon: 'copy', keys: 'Ctrl C', run: () => void copy(model, null) })
    if (typeof value === 'string') look.push({ label: 'Show the whole value', icon: 'maximize-2', run: () => opens.whole(row, index) })
    if (column.reference && typeof value === 'string' && model.given.lookup) {
      look.push({ label: `Look at ${column.reference}`, icon: 'eye', run: () => opens.peek(row, index) })
    }
  }
  if (onopen && id !== null && stored) rows.push({ label: 'Open the row', icon: 'panel-right', keys: 'Shift ⏎', run: () => onopen(id) })
  if (changes) {
    rows.push({ label: 'Duplicate the row', icon: 'copy-plus', refused, run: () => void duplicate(model, row) })
    rows.push({ label: 'New row', icon: 'plus', refused, run: () => void model.insertRows([new Map()]) })
  }
  if (draft) {
    rows.push({ label: draft.was ? 'Drop all changes of the row' : 'Drop the new row', icon: 'undo-2', run: () => model.discard(draft.id) })
  }
  if (onremove && stored && changes) rows.push({ label: 'Delete the row', icon: 'trash-2', danger: true, refused, run: () => { if (id !== null) onremove(id) } })
  if (loaded !== null && !stored && loaded !== 'loading') {
    rows.push({ label: 'Try to read again', icon: 'rotate-ccw', run: () => model.pages.retry(row - model.insertCount) })
  }
  return grouped([look, change, rows])
}

/** A new row with the values of another, but for keys with a default and what cannot be written. */
async function duplicate(model: Model, row: number): Promise<void> {
  const values = new Map<string, string | null>()
  for (const placed of model.columns) {
    const { column } = placed
    if (column.readonly || (column.key && column.default !== undefined)) continue
    const value = model.value(row, placed)
    if (value !== undefined) values.set(column.name, value)
  }
  await model.insertRows([values])
}

export function isHeader(model: Model): boolean {
  return model.active.row === headerRow && model.active.column > gutterColumn
}
