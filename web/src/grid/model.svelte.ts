import { tick } from 'svelte'
import { arrange, columnsWithin, type Placed } from './columns.ts'
import { bytes, count as written } from './display.ts'
import * as drafting from './drafts.ts'
import { editable } from './editors/edit.svelte.ts'
import { Pages, type Loaded } from './pages.ts'
import { rangeOf, rowKey, type Position, type Range } from './selection.ts'
import { fitWidths, rowHeights, type Measure } from './sizes.ts'
import type { Change, Column, GridState, Lookup, Row, SaveOutcome, Source, Value } from './types.ts'
import { refuse } from './validate.ts'
import { reuse, Scroller, type Slot } from './window.ts'

/** What the owner gives; documented in Grid.svelte. */
export interface Given {
  source: Source
  columns: readonly Column[]
  state: GridState
  onstatechange: (state: GridState) => void
  onsave?: ((changes: Change[]) => Promise<SaveOutcome>) | undefined
  refused?: string | undefined
  onclear?: ((cells: number) => boolean | Promise<boolean>) | undefined
  ondrafts?: ((rows: number) => void) | undefined
  lookup?: Lookup | undefined
  onfollow?: ((column: Column, key: string) => void) | undefined
  onopen?: ((key: string) => void) | undefined
  onremove?: ((key: string) => void) | undefined
}

/** The row of headers, and the column of row numbers and tick boxes, as positions. */
export const headerRow = -1
export const gutterColumn = -1

const rowsAround = 8
const pixelsAround = 240
const historyKept = 100

/** A row as it is drawn. */
export interface Shown {
  loaded: Loaded | null
  /** Key of the row, or the draft's own name; null when unknown. */
  id: string | null
  draft: drafting.Draft | undefined
}

export class Model {
  readonly #given: () => Given
  readonly scroller = new Scroller()
  measure = $state.raw<Measure>((text) => text.length * 7.5)
  /** The element that scrolls, once there is one. */
  scroll: HTMLElement | undefined

  pages = $state.raw<Pages>(undefined as unknown as Pages)
  /** Counts what `pages` has learned, so that what shows it is drawn again. */
  version = $state(0)
  /** Widths by the first rows that were read, once there are any. */
  fitted = $state.raw<Record<string, number>>()
  #fittedFor = ''
  /** Width of a column while it is being dragged. */
  dragged = $state.raw<{ name: string; width: number } | null>(null)
  drafts = $state.raw<drafting.Drafts>(drafting.noDrafts)
  #past: drafting.Drafts[] = []
  #future: drafting.Drafts[] = []
  #inserted = 0

  active = $state.raw<Position>({ row: 0, column: 0 })
  anchor = $state.raw<Position>({ row: 0, column: 0 })
  focused = $state(false)
  editing = $state.raw<{ row: number; column: number; typed: string | null } | null>(null)

  viewWidth = $state(0)
  viewHeight = $state(0)
  left = $state(0)
  base = $state(0)
  first = $state(0)
  last = $state(0)
  topRow = $state(0)
  /** From the first movement until it rests. */
  scrolling = $state(false)

  /** Said by screen readers; and what went wrong with the last save, until something is changed or saved anew. */
  message = $state('')
  problem = $state('')
  saving = $state(false)

  constructor(given: () => Given) {
    this.#given = given
  }

  get given(): Given {
    return this.#given()
  }

  // Geometry

  rowHeight = $derived.by(() => rowHeights[this.given.state.density])
  #expected = $derived.by(() => fitWidths(this.given.columns, [], this.measure))
  headerHeight = $derived.by(() => this.rowHeight + 4)
  // Parts of the state by themselves: the row in view is one too, and changes as rows are scrolled.
  #order = $derived.by(() => this.given.state.order)
  #hidden = $derived.by(() => this.given.state.hidden)
  #widths = $derived.by(() => this.given.state.widths)
  columns = $derived.by<Placed[]>(() => {
    const widths = this.dragged ? { ...this.#widths, [this.dragged.name]: this.dragged.width } : this.#widths
    return arrange(this.given.columns, { order: this.#order, hidden: this.#hidden, widths }, this.fitted ?? this.#expected)
  })
  width = $derived.by(() => this.columns.reduce((sum, c) => sum + c.width, 0))
  dataCount = $derived.by(() => (this.version, this.pages?.count ?? 0))
  insertCount = $derived.by(() => this.drafts.inserts.length)
  rowCount = $derived.by(() => this.dataCount + this.insertCount)
  narrow = $derived.by(() => this.viewWidth > 0 && this.viewWidth < 520)
  gutter = $derived.by(() => (this.narrow ? 40 : 48 + Math.ceil(6.6 * Math.max(2, written(this.dataCount).length))))
  /** Columns that stay at the left: none where they would leave no room for the others. */
  frozen = $derived.by(() => {
    const frozen = Math.min(this.given.state.frozen, this.columns.length)
    const last = this.columns[frozen - 1]
    return last && this.gutter + last.left + last.width <= this.viewWidth * 0.6 ? frozen : 0
  })
  frozenWidth = $derived.by(() => {
    const last = this.columns[this.frozen - 1]
    return last ? last.left + last.width : 0
  })
  /** First and last (excluded) column to draw among those that move. */
  #moving = $derived.by(() => {
    const from = this.left + this.frozenWidth - pixelsAround
    return columnsWithin(this.columns, Math.max(from, this.frozenWidth), this.left + this.viewWidth - this.gutter + pixelsAround)
  })
  firstColumn = $derived.by(() => Math.max(this.#moving[0], this.frozen))
  lastColumn = $derived.by(() => this.#moving[1])
  /** Indexes of the columns to draw. The active one is always there, since it holds the focus. */
  drawnColumns = $derived.by<number[]>(() => {
    const drawn: number[] = []
    for (let i = 0; i < this.frozen; i++) drawn.push(i)
    const active = this.active.column
    if (active >= this.frozen && active < this.firstColumn) drawn.push(active)
    for (let i = this.firstColumn; i < this.lastColumn; i++) drawn.push(i)
    if (active >= this.lastColumn && active >= this.frozen && active < this.columns.length) drawn.push(active)
    return drawn
  })
  /** Rows to draw, the active one always among them. */
  drawnRows = $derived.by<number[]>(() => {
    const drawn: number[] = []
    const active = this.active.row
    if (active >= 0 && active < this.first) drawn.push(active)
    for (let i = this.first; i < this.last; i++) drawn.push(i)
    if (active >= this.last && active < this.rowCount) drawn.push(active)
    return drawn
  })

  #rowSlots: Slot[] = []
  #columnSlots: Slot[] = []
  /** The elements that draw them. */
  rowSlots = $derived.by<Slot[]>(() => this.#arranged((this.#rowSlots = reuse(this.#rowSlots, this.drawnRows, this.scrolling ? this.rowCount : 0))))
  columnSlots = $derived.by<Slot[]>(() =>
    this.#arranged((this.#columnSlots = reuse(this.#columnSlots, this.drawnColumns, this.scrolling ? this.columns.length : 0))),
  )

  /** In the order in which they are read one by one, but not while they pass: moving elements costs. */
  #arranged(slots: readonly Slot[]): Slot[] {
    return slots.toSorted(this.scrolling ? (a, b) => a.key - b.key : (a, b) => a.at - b.at)
  }

  /** Pixels from the top of the scrolled element to a row; the active row may be far outside and is put at the edge. */
  y(row: number): number {
    return Math.min(this.last, Math.max(this.first - 1, row)) * this.rowHeight + this.base
  }

  // Columns and rows as data

  keys = $derived.by<number[]>(() => this.given.columns.flatMap((c, at) => (c.key ? [at] : [])))
  editable = $derived.by(() => this.given.onsave !== undefined && this.keys.length > 0)

  idOf(row: Row): string | null {
    return this.keys.length === 0 ? null : rowKey(this.keys.map((at) => row[at] ?? null))
  }

  loaded(row: number): Loaded | null {
    void this.version
    return row < this.insertCount ? null : this.pages.row(row - this.insertCount)
  }

  shown(row: number): Shown {
    const insert = this.drafts.inserts[row]
    if (insert) return { loaded: null, id: insert.id, draft: insert }
    const loaded = this.loaded(row)
    const id = Array.isArray(loaded) ? this.idOf(loaded as Row) : null
    return { loaded, id, draft: id === null ? undefined : this.drafts.edits.get(id) }
  }

  /** The value of a cell with its draft; undefined for the default of a row to be inserted; null also where nothing is known yet. */
  value(row: number, placed: Placed): Value | undefined {
    const { loaded, draft } = this.shown(row)
    if (draft?.set.has(placed.column.name)) return draft.set.get(placed.column.name)
    if (loaded === null) return undefined
    return Array.isArray(loaded) ? ((loaded as Row)[placed.at] ?? null) : null
  }

  canEdit(row: number, column: Column): boolean {
    return this.editable && !column.readonly && this.shown(row).id !== null
  }

  /** Why a draft's cell cannot be saved as it is, or was not. */
  fault(draft: drafting.Draft | undefined, column: Column): string | null {
    if (!draft) return null
    if (draft.refusal?.column === column.name) return draft.refusal.reason
    if (draft.was && !draft.set.has(column.name)) return null
    // A row just begun is not blamed for what is still missing.
    if (!draft.was && !draft.set.has(column.name)) return null
    return refuse(column, draft.set.get(column.name), draft.was === null)
  }

  range = $derived.by<Range>(() => rangeOf(this.anchor, this.active))
  hasRange = $derived.by(() => this.anchor.row !== this.active.row || this.anchor.column !== this.active.column)

  // Life

  /** Takes a new source. */
  open(source: Source): void {
    this.pages?.close()
    this.pages = new Pages(source, () => this.#learned())
    this.version++
  }

  close(): void {
    this.pages?.close()
  }

  #learned(): void {
    this.version++
    const names = this.given.columns.map((c) => c.name).join('\0')
    if (this.#fittedFor === names) return
    const rows: Row[] = []
    for (let i = this.first; rows.length < 60 && i < this.last + rowsAround; i++) {
      const row = i < this.insertCount ? null : this.pages.row(i - this.insertCount)
      if (Array.isArray(row)) rows.push(row as Row)
    }
    if (rows.length === 0) return
    this.#fittedFor = names
    this.fitted = fitWidths(this.given.columns, rows, this.measure)
  }

  /** Sizes and rows in view, after the element was scrolled or resized or rows came or went. */
  look(): void {
    const s = this.scroller
    const before = s.top
    s.rows = this.rowCount
    s.rowHeight = this.rowHeight
    s.view = Math.max(0, this.viewHeight - this.headerHeight)
    if (this.scroll) {
      s.scrolled(this.scroll.scrollTop)
      this.left = this.scroll.scrollLeft
    }
    ;[this.first, this.last] = s.rowsInView(rowsAround)
    this.base = s.span.base
    this.topRow = Math.round(s.top / this.rowHeight)
    const [from, to] = s.rowsInView(0)
    if (to > from) this.pages.want(Math.max(0, from - this.insertCount), Math.max(0, to - this.insertCount), s.top >= before)
  }

  /** After scrolling has rested. */
  rest(): void {
    this.look()
    this.scrolling = false
    const settled = this.scroller.settled()
    if (this.scroller.mapped && this.scroll && Math.abs(settled - this.scroll.scrollTop) > 1) this.scrollTo(this.scroller.top)
    const row = Math.min(this.topRow, Math.max(0, this.rowCount - 1))
    if (row !== this.given.state.row) this.emit({ row })
  }

  scrollTo(top: number): void {
    if (!this.scroll) return
    this.scroll.scrollTop = this.scroller.to(top)
    // The browser may round what it was given.
    this.scroller.at(this.scroll.scrollTop)
    this.look()
  }

  scrollToRow(row: number): void {
    this.scrollTo(row * this.rowHeight)
  }

  emit(change: Partial<GridState>): void {
    this.given.onstatechange({ ...this.given.state, ...change })
  }

  say(message: string): void {
    // The same sentence twice would not be announced: it changes by a space nobody hears.
    this.message = this.message === message ? message + '\u00a0' : message
  }

  // Moving

  /** Makes a cell the active one; with `extend` the range from the anchor grows to it. */
  async go(row: number, column: number, extend = false): Promise<void> {
    row = Math.max(headerRow, Math.min(row, this.rowCount - 1))
    column = Math.max(gutterColumn, Math.min(column, this.columns.length - 1))
    if (extend) {
      row = Math.max(0, row)
      column = Math.max(0, column)
    }
    this.active = { row, column }
    if (!extend) this.anchor = { row, column }
    this.reveal(row, column)
    await this.focus()
  }

  reveal(row: number, column: number): void {
    if (!this.scroll) return
    if (row >= 0) {
      const top = this.scroller.reveal(row)
      if (top !== this.scroller.top) this.scrollTo(top)
    }
    const placed = this.columns[column]
    if (!placed || column < this.frozen) return
    const room = this.viewWidth - this.gutter
    if (placed.left < this.left + this.frozenWidth) this.scroll.scrollLeft = placed.left - this.frozenWidth
    else if (placed.left + placed.width > this.left + room) {
      this.scroll.scrollLeft = Math.min(placed.left - this.frozenWidth, placed.left + placed.width - room)
    }
    this.look()
  }

  /** The drawn element of a cell. */
  element(row: number, column: number): HTMLElement | null {
    return this.scroll?.querySelector<HTMLElement>(`[data-row="${row}"][data-column="${column}"]`) ?? null
  }

  async focus(): Promise<void> {
    await tick()
    this.element(this.active.row, this.active.column)?.focus({ preventScroll: true })
  }

  // Drafts

  #change(drafts: drafting.Drafts): void {
    this.#past = [...this.#past.slice(-historyKept), this.drafts]
    this.#future = []
    this.#put(drafts)
  }

  #put(drafts: drafting.Drafts): void {
    const before = drafting.size(this.drafts)
    this.drafts = drafts
    this.problem = ''
    const after = drafting.size(drafts)
    if (before !== after) this.given.ondrafts?.(after)
  }

  undo(): void {
    const past = this.#past.pop()
    if (!past || this.saving) return this.say('Nothing to undo')
    this.#future.push(this.drafts)
    this.#put(past)
    this.say('Undone')
  }

  redo(): void {
    const future = this.#future.pop()
    if (!future || this.saving) return this.say('Nothing to do again')
    this.#past.push(this.drafts)
    this.#put(future)
    this.say('Done again')
  }

  /** Sets cells; those that cannot be edited are left out. Answers how many were set. */
  setCells(cells: readonly { row: number; shown?: Shown; column: Placed; value: Value | undefined }[]): number {
    let drafts = this.drafts
    let changed = 0
    for (const { row, shown = this.shown(row), column, value } of cells) {
      if (!this.editable || column.column.readonly || shown.id === null) continue
      const was = Array.isArray(shown.loaded) ? (shown.loaded as Row) : null
      drafts = drafting.set(drafts, shown.id, was, [[column.column, column.at, value]])
      changed++
    }
    if (changed > 0) this.#change(drafts)
    return changed
  }

  /** Adds rows to be inserted at the top and goes to the first of them. */
  async insertRows(rows: readonly ReadonlyMap<string, Value>[]): Promise<void> {
    if (!this.editable) return
    let drafts = this.drafts
    for (const values of [...rows].reverse()) drafts = drafting.insert(drafts, `insert ${++this.#inserted}`, values)
    this.#change(drafts)
    await tick()
    this.look()
    const first = this.columns.findIndex((c) => !c.column.readonly && c.column.default === undefined)
    await this.go(0, Math.max(0, first))
    this.say(rows.length === 1 ? 'New row' : `${written(rows.length)} new rows`)
  }

  /** Adds empty rows to be inserted below those there are. */
  appendInserts(by: number): void {
    const more = Array.from({ length: by }, () => ({ id: `insert ${++this.#inserted}`, was: null, set: new Map(), state: 'edited' as const }))
    this.#change({ ...this.drafts, inserts: [...this.drafts.inserts, ...more] })
  }

  discard(id: string): void {
    this.#change(drafting.discard(this.drafts, id))
    this.say('Changes of the row dropped')
    void this.focus()
  }

  discardAll(): void {
    this.#change(drafting.noDrafts)
    this.say('All changes dropped. Control Z brings them back.')
    this.#back()
  }

  /** Gives the focus to the active cell, among the rows that there still are; the view stays where it is. */
  #back(): void {
    this.active = { row: Math.min(this.active.row, this.rowCount - 1), column: this.active.column }
    this.anchor = this.active
    void this.focus()
  }

  resolve(id: string, keep: 'mine' | 'theirs'): void {
    const theirs = this.drafts.edits.get(id)?.theirs
    const at = theirs ? this.pages.locate((row) => this.idOf(row) === id) : -1
    this.#change(drafting.resolve(this.drafts, id, keep))
    if (theirs && at >= 0) this.pages.replace(at, theirs)
    this.say(keep === 'mine' ? 'Your change is kept: save it again' : 'The other change is kept')
    void this.focus()
  }

  /** First cell that cannot be saved as it is. */
  #faulty(): { draft: drafting.Draft; column: Column; reason: string } | null {
    for (const draft of drafting.all(this.drafts)) {
      for (const column of this.given.columns) {
        if (draft.was && !draft.set.has(column.name)) continue
        const reason = refuse(column, draft.set.get(column.name), draft.was === null)
        if (reason) return { draft, column, reason }
      }
    }
    return null
  }

  /** Hands all drafts to the owner and shows what became of them. */
  async save(): Promise<void> {
    const save = this.given.onsave
    if (!save || this.saving) return
    this.problem = ''
    if (drafting.isEmpty(this.drafts)) return this.say('Nothing to save')
    const faulty = this.#faulty()
    if (faulty) return this.#refused(faulty.draft.id, faulty.column.name, faulty.reason)
    const open = [...this.drafts.edits.values()].find((d) => d.state === 'conflict')
    if (open) return this.#refused(open.id, undefined, 'Somebody else changed this row: decide first which change is kept')
    const columns = this.given.columns
    const sent = drafting.all(this.drafts)
    this.saving = true
    this.drafts = drafting.mark(this.drafts, 'saving')
    let outcome: SaveOutcome
    try {
      outcome = await save(sent.map((draft) => drafting.toChange(columns, draft)))
    } catch (error) {
      outcome = { status: 'refused', index: -1, reason: error instanceof Error ? error.message : String(error) }
    }
    this.saving = false
    this.#past = []
    this.#future = []
    this.#put(drafting.settle(this.drafts, sent, outcome))
    await this.#told(sent, outcome)
  }

  async #told(sent: readonly drafting.Draft[], outcome: SaveOutcome): Promise<void> {
    if (outcome.status === 'saved') {
      sent.forEach((draft, i) => {
        const row = outcome.rows[i]
        const at = row && draft.was ? this.pages.locate((r) => this.idOf(r) === draft.id) : -1
        if (row && at >= 0) this.pages.replace(at, row)
      })
      this.say(sent.length === 1 ? '1 row saved' : `${written(sent.length)} rows saved`)
      if (this.focused) return void this.go(Math.max(0, this.active.row), this.active.column)
      // The button that was pressed goes with the drafts, and with it the focus, unless the person has moved it.
      await tick()
      if (document.activeElement === document.body) this.#back()
      return
    }
    if (outcome.status === 'conflict') {
      const first = sent[outcome.conflicts[0]?.index ?? -1]
      this.#refused(first?.id, undefined, 'Nothing was saved: somebody else changed the row meanwhile')
      return
    }
    this.#refused(sent[outcome.index]?.id, outcome.column, outcome.reason, outcome.unsure)
  }

  #refused(id: string | undefined, column: string | undefined, reason: string, unsure = false): void {
    this.problem = reason
    this.say(unsure ? reason : `Not saved. ${reason}`)
    if (id === undefined) return
    const insert = this.drafts.inserts.findIndex((d) => d.id === id)
    const at = insert >= 0 ? insert : this.pages.locate((row) => this.idOf(row) === id)
    if (at < 0) return
    const row = insert >= 0 ? at : at + this.insertCount
    const place = column === undefined ? this.active.column : this.columns.findIndex((c) => c.column.name === column)
    void this.go(row, Math.max(0, place))
  }

  // Editing

  /** Opens the editor of the active cell; `typed` is what the person began with. */
  edit(typed: string | null = null): void {
    const { row, column } = this.active
    const placed = this.columns[column]
    if (row < 0 || !placed) return
    if (!this.canEdit(row, placed.column)) {
      return this.say(this.editable ? `${placed.column.name} cannot be changed` : 'These rows cannot be changed')
    }
    const value = this.value(row, placed)
    if (typed === null && placed.column.kind !== 'bytea' && (value?.length ?? 0) > editable) {
      return this.say(`A value of ${bytes(value?.length ?? 0)} is too long to be edited here: copy it, or write another one`)
    }
    this.reveal(row, column)
    this.editing = { row, column, typed }
  }

  /** Takes an edited value and moves on. */
  async commit(value: Value | undefined, rows: number, columns: number): Promise<void> {
    const editing = this.editing
    if (!editing) return
    const placed = this.columns[editing.column]
    this.editing = null
    if (placed) this.setCells([{ row: editing.row, column: placed, value }])
    let row = editing.row + rows
    let column = editing.column + columns
    if (column >= this.columns.length) [row, column] = [row + 1, 0]
    else if (column < 0) [row, column] = [row - 1, this.columns.length - 1]
    await this.go(Math.max(0, row), column)
  }

  /** Takes an edited value because the person went elsewhere. */
  leave(value: Value | undefined, focusMoved: boolean): void {
    const editing = this.editing
    if (!editing) return
    const placed = this.columns[editing.column]
    this.editing = null
    if (placed) this.setCells([{ row: editing.row, column: placed, value }])
    if (!focusMoved) void this.focus()
  }

  cancel(): void {
    this.editing = null
    void this.focus()
  }
}
