import { count } from './display.ts'
import type { Model } from './model.svelte.ts'
import { isSelected, select, selectedCount } from './selection.ts'
import type { Row } from './types.ts'

/** Rows that one press with Shift ticks at most: their keys must be read. */
const tickedAtOnce = 10_000

const last = new WeakMap<Model, number>()

/** Ticks a row or takes the tick away; with `through` all rows since the last one get the same. */
export function tick(model: Model, row: number, through: boolean): void {
  const id = row < model.insertCount ? null : model.shown(row).id
  if (id === null) return model.say(model.keys.length === 0 ? 'Rows without a key cannot be selected' : 'This row cannot be selected yet')
  const from = last.get(model)
  const selected = model.given.state.selected
  const on = !isSelected(selected, id)
  last.set(model, row)
  if (through && from !== undefined && from !== row) {
    void tickThrough(model, Math.min(from, row), Math.max(from, row))
    return
  }
  told(model, select(selected, [id], on))
}

/** Ticks all rows, or none when all were. */
export function tickAll(model: Model): void {
  const { selected } = model.given.state
  const all = selected.all && selected.keys.length === 0
  told(model, { all: !all, keys: [] })
}

async function tickThrough(model: Model, from: number, to: number): Promise<void> {
  if (to - from >= tickedAtOnce) return model.say(`At most ${count(tickedAtOnce)} rows can be selected at once`)
  const inserts = model.insertCount
  try {
    const rows = await model.pages.read(Math.max(0, from - inserts), to + 1 - inserts, AbortSignal.timeout(30_000))
    const keys = rows.map((row: Row) => model.idOf(row)).filter((key) => key !== null)
    told(model, select(model.given.state.selected, keys, true))
  } catch {
    model.say('The rows between could not be read')
  }
}

function told(model: Model, selected: { all: boolean; keys: readonly string[] }): void {
  model.emit({ selected })
  const n = selectedCount(selected, model.dataCount)
  model.say(n === 1 ? '1 row selected' : `${count(n)} rows selected`)
}
