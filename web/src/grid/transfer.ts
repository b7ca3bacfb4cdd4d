import { copy as copyText } from '../kit/copy.ts'
import { fromTsv, toTsv } from './clipboard.ts'
import type { Placed } from './columns.ts'
import { count } from './display.ts'
import { allowsEmpty } from './kinds.ts'
import type { Model, Shown } from './model.svelte.ts'
import { cellsIn } from './selection.ts'
import type { Row, Value } from './types.ts'

/** Cells that one copy, paste or deletion touches at most. */
const cellsAtOnce = 200_000
/** How long (ms) rows out of view may take to be read. */
const patience = 30_000

/** Copies the selected range as tab-separated text. */
export async function copy(model: Model, data: DataTransfer | null): Promise<void> {
  const range = model.range
  if (range.top < 0 || range.left < 0) return
  const cells = cellsIn(range)
  if (cells > cellsAtOnce) return model.say(`At most ${count(cellsAtOnce)} cells can be copied: export the rows instead`)
  const columns = model.columns.slice(range.left, range.right + 1)
  const near = shownNow(model, range.top, range.bottom)
  try {
    const rows = near ?? (await read(model, range.top, range.bottom))
    const values = rows.map((row) => columns.map((placed) => valueOf(row, placed) ?? null))
    const alone = cells === 1 ? (values[0]?.[0] ?? '') : null
    const text = alone ?? toTsv(values)
    if (near && data) data.setData('text/plain', text)
    else if (!(await copyText(text))) throw new Error('The clipboard refused it.')
    model.say(cells === 1 ? 'Copied' : `${count(cells)} cells copied`)
  } catch (error) {
    model.say(`Not copied. ${error instanceof Error ? error.message : ''}`)
  }
}

/** Puts tab-separated text into the cells from the range's first on; one value fills the whole range. */
export async function paste(model: Model, text: string): Promise<void> {
  const { top, left, bottom, right } = model.range
  if (top < 0 || left < 0 || text === '') return
  const given = cellsIn(model.range) === 1 && !/[\t\n"]/.test(text) ? [[text]] : fromTsv(text)
  const wide = Math.max(...given.map((row) => row.length))
  const fill = given.length === 1 && wide === 1
  const tall = fill ? bottom - top + 1 : given.length
  const columns = model.columns.slice(left, fill ? right + 1 : left + wide)
  if (tall * columns.length > cellsAtOnce) return model.say(`At most ${count(cellsAtOnce)} cells can be pasted: import a file instead`)
  if (!fill && top < model.insertCount && top + tall > model.insertCount) model.appendInserts(top + tall - model.insertCount)
  const end = Math.min(model.rowCount - 1, top + tall - 1)
  try {
    const rows = shownNow(model, top, end) ?? (await read(model, top, end))
    const cells = rows.flatMap((shown, r) =>
      columns.flatMap((column, c) => {
        const values = given[fill ? 0 : r]
        if (!values || (!fill && c >= values.length)) return []
        return [{ row: top + r, shown, column, value: fitting(column, values[fill ? 0 : c] ?? null) }]
      }),
    )
    const changed = model.setCells(cells)
    if (!fill && changed > 0) {
      model.anchor = { row: top, column: left }
      model.active = { row: end, column: left + columns.length - 1 }
      void model.focus()
    }
    const cut = tall * columns.length - changed
    model.say(`${count(changed)} cells pasted` + (cut > 0 ? `, ${count(cut)} could not be changed` : ''))
  } catch (error) {
    model.say(`Not pasted. ${error instanceof Error ? error.message : ''}`)
  }
}

/** Sets the cells of the range to null, if the owner agrees. */
export async function clear(model: Model): Promise<void> {
  const range = model.range
  if (range.top < 0 || range.left < 0) return
  const cells = cellsIn(range)
  if (cells > cellsAtOnce) return model.say(`At most ${count(cellsAtOnce)} cells can be cleared at once`)
  if (!model.editable) return model.say('These rows cannot be changed')
  const agreed = await (model.given.onclear?.(cells) ?? true)
  if (!agreed) return void model.focus()
  try {
    const rows = shownNow(model, range.top, range.bottom) ?? (await read(model, range.top, range.bottom))
    const columns = model.columns.slice(range.left, range.right + 1)
    const changed = model.setCells(rows.flatMap((shown, r) => columns.map((column) => ({ row: range.top + r, shown, column, value: null }))))
    model.say(changed === 1 ? 'Set to null' : `${count(changed)} cells set to null`)
  } catch (error) {
    model.say(`Nothing was cleared. ${error instanceof Error ? error.message : ''}`)
  }
  void model.focus()
}

/** An empty field is null, but for text that may not be null it is the empty string. */
function fitting({ column }: Placed, value: Value): Value {
  return value === null && !column.nullable && allowsEmpty(column.kind) ? '' : value
}

function valueOf({ loaded, draft }: Shown, placed: Placed): Value | undefined {
  if (draft?.set.has(placed.column.name)) return draft.set.get(placed.column.name)
  return Array.isArray(loaded) ? ((loaded as Row)[placed.at] ?? null) : undefined
}

/** The rows when all of them are at hand. */
function shownNow(model: Model, top: number, bottom: number): Shown[] | null {
  const rows: Shown[] = []
  for (let row = top; row <= bottom; row++) {
    const shown = model.shown(row)
    if (shown.loaded !== null && !Array.isArray(shown.loaded)) return null
    rows.push(shown)
  }
  return rows
}

async function read(model: Model, top: number, bottom: number): Promise<Shown[]> {
  const inserts = model.insertCount
  const drafts = model.drafts.inserts.slice(top, bottom + 1).map((draft): Shown => ({ loaded: null, id: draft.id, draft }))
  const from = Math.max(0, top - inserts)
  const rows = bottom >= inserts ? await model.pages.read(from, bottom + 1 - inserts, AbortSignal.timeout(patience)) : []
  return [
    ...drafts,
    ...rows.map((loaded): Shown => {
      const id = model.idOf(loaded)
      return { loaded, id, draft: id === null ? undefined : model.drafts.edits.get(id) }
    }),
  ]
}
