import { move, nextSort } from './columns'
import { gutterColumn, headerRow, type Model } from './model.svelte'
import type { Item } from './PopMenu.svelte'
import { allowsEmpty } from './kinds'
import { clampWidth } from './sizes'
import { clear, copy } from './transfer'

/** What a menu asks of the grid itself. */
export interface Opens {
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

export function columnMenu(model: Model, index: number): Item[] {
  const { column } = model.columns[index]!
  const { state } = model.given
  const others = state.sort.filter((s) => s.column !== column.name)
  const by = (descending: boolean, add: boolean) => () => {
    model.emit({ sort: [...(add ? others : []), { column: column.name, descending }] })
    model.say(`Sorted by ${column.name}, ${descending ? 'descending' : 'ascending'}`)
  }
  const items: Item[] = [
    { label: 'Sort ascending', keys: '⏎', run: by(false, false) },
    { label: 'Sort descending', run: by(true, false) },
  ]
  if (others.length > 0) {
    items.push({ label: 'Then sort by this, ascending', keys: 'Shift ⏎', run: by(false, true) }, { label: 'Then sort by this, descending', run: by(true, true) })
  }
  if (others.length < state.sort.length) items.push({ label: 'Do not sort by this', run: () => model.emit({ sort: others }) })
  items.push({ label: 'Move to the left', keys: 'Ctrl Shift ←', apart: true, run: () => moveColumn(model, index, -1) })
  items.push({ label: 'Move to the right', keys: 'Ctrl Shift →', run: () => moveColumn(model, index, 1) })
  items.push({ label: 'Wider', keys: 'Shift →', stays: true, run: () => resize(model, index, 24) })
  items.push({ label: 'Narrower', keys: 'Shift ←', stays: true, run: () => resize(model, index, -24) })
  items.push({
    label: 'As wide as its content',
    run: () => {
      const { [column.name]: _, ...widths } = state.widths
      model.emit({ widths })
    },
  })
  if (state.frozen !== index + 1) items.push({ label: 'Freeze up to this column', apart: true, run: () => model.emit({ frozen: index + 1 }) })
  if (state.frozen > 0) items.push({ label: 'Freeze no column', apart: state.frozen === index + 1, run: () => model.emit({ frozen: 0 }) })
  if (model.columns.length > 1) items.push({ label: 'Hide', run: () => model.emit({ hidden: [...state.hidden, column.name] }) })
  return items
}

export function allColumnsMenu(model: Model): Item[] {
  const { columns, state } = model.given
  const items = columns.map((column): Item => {
    const hidden = state.hidden.includes(column.name)
    return {
      label: column.name,
      checked: !hidden,
      stays: true,
      run: () => {
        const now = model.given.state.hidden
        const shown = columns.length - now.length
        if (hidden) model.emit({ hidden: now.filter((n) => n !== column.name) })
        else if (shown > 1) model.emit({ hidden: [...now, column.name] })
        else model.say('One column must stay')
      },
    }
  })
  items.push({ label: 'Show all columns', apart: true, run: () => model.emit({ hidden: [] }) })
  items.push({ label: 'Order and widths as they were', run: () => model.emit({ order: [], widths: {}, frozen: 0 }) })
  return items
}

export function cellMenu(model: Model, row: number, index: number, opens: Opens): Item[] {
  const placed = model.columns[index]
  const { draft, loaded, id } = model.shown(row)
  const items: Item[] = []
  if (placed) {
    const { column } = placed
    const value = model.value(row, placed)
    const editable = model.canEdit(row, column)
    if (editable) items.push({ label: 'Edit', keys: '⏎', run: () => model.edit() })
    items.push({ label: 'Copy', keys: 'Ctrl C', run: () => void copy(model, null) })
    if (typeof value === 'string') items.push({ label: 'Show the whole value', run: () => opens.whole(row, index) })
    if (column.reference && typeof value === 'string' && model.given.lookup) {
      items.push({ label: `Look at ${column.reference}`, run: () => opens.peek(row, index) })
    }
    if (editable) {
      const become = (to: string | undefined) => () => {
        model.setCells([{ row, column: placed, value: to }])
        void model.focus()
      }
      if (column.nullable) items.push({ label: 'Set to NULL', keys: 'Del', apart: true, run: () => void clear(model) })
      if (allowsEmpty(column.kind)) items.push({ label: 'Set to empty text', apart: !column.nullable, run: become('') })
      if (draft?.set.has(column.name)) {
        items.push({ label: draft.was ? 'Take this change back' : 'Use the default', run: become(undefined) })
      }
    }
  }
  if (draft) items.push({ label: draft.was ? 'Drop all changes of the row' : 'Drop the new row', apart: true, run: () => model.discard(draft.id) })
  if (model.editable && id !== null) {
    items.push({ label: 'Duplicate the row', apart: !draft, run: () => void duplicate(model, row) })
    items.push({ label: 'New row', run: () => void model.insertRows([new Map()]) })
  }
  if (loaded !== null && !Array.isArray(loaded) && loaded !== 'loading') {
    items.push({ label: 'Try to read again', run: () => model.pages.retry(row - model.insertCount) })
  }
  return items
}

/** A new row with the values of another, but for keys with a default and what cannot be written. */
export async function duplicate(model: Model, row: number): Promise<void> {
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
