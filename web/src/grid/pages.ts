import type { Row, Source } from './types.ts'

export const pageRows = 100
/** Pages kept; those used longest ago go first. */
const pagesKept = 60
/** Characters kept, so that a table of large values does not fill the memory. */
const charactersKept = 64 * 1024 * 1024
/** Requests on the way at once. */
const requestsAtOnce = 4
/** How long (ms) a jump must rest before it is asked for, while another request is on the way. */
const rest = 40

type Page =
  | { state: 'loading'; abort: AbortController }
  | { state: 'ready'; rows: Row[]; characters: number }
  | { state: 'failed'; reason: string }

/** What is known of a row: its values, or why they are not there yet. */
export type Loaded = Row | 'loading' | { failed: string }

/** Reads a source page by page as a window moves over it, and forgets what is far. */
export class Pages {
  readonly source: Source
  /** How many rows there are, as far as is known: an estimate is mended when the end is seen. */
  count: number
  readonly #changed: () => void
  readonly #pages = new Map<number, Page>()
  #characters = 0
  #wanted: number[] = []
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(source: Source, changed: () => void) {
    this.source = source
    this.count = source.count
    this.#changed = changed
  }

  row(index: number): Loaded {
    const page = this.#pages.get(Math.floor(index / pageRows))
    if (page?.state === 'ready') return page.rows[index % pageRows] ?? { failed: 'This row is no longer there.' }
    if (page?.state === 'failed') return { failed: page.reason }
    return 'loading'
  }

  /** Says which rows are in view. Reads them, then a page ahead in the direction of travel; drops what is stale. */
  want(from: number, to: number, forward: boolean): void {
    const last = Math.ceil(this.count / pageRows) - 1
    const first = Math.floor(from / pageRows)
    const end = Math.min(last, Math.floor(Math.max(from, to - 1) / pageRows))
    const wanted: number[] = []
    for (let page = first; page <= end; page++) wanted.push(page)
    const ahead = forward ? [end + 1, first - 1] : [first - 1, end + 1]
    for (const page of ahead) if (page >= 0 && page <= last) wanted.push(page)
    if (wanted.join() === this.#wanted.join()) return
    this.#wanted = wanted
    let stale = 0
    for (const [number, page] of this.#pages) {
      if (page.state === 'loading' && !wanted.includes(number)) {
        page.abort.abort()
        this.#pages.delete(number)
        stale++
      }
    }
    for (const number of wanted) this.#touch(number)
    clearTimeout(this.#timer)
    if (stale > 0) this.#timer = setTimeout(() => this.#pump(), rest)
    else this.#pump()
  }

  /** Reads a range that may be out of view, for copying and for edits of many rows. */
  async read(from: number, to: number, signal: AbortSignal): Promise<Row[]> {
    const rows: Row[] = []
    for (let number = Math.floor(from / pageRows); number * pageRows < to; number++) {
      const start = number * pageRows
      const page = this.#pages.get(number)
      const all = page?.state === 'ready' ? page.rows : await this.source.fetch(start, this.#endOf(number), signal)
      signal.throwIfAborted()
      rows.push(...all.slice(Math.max(0, from - start), to - start))
    }
    return rows
  }

  /** Tries a page that failed once more. */
  retry(index: number): void {
    this.#pages.delete(Math.floor(index / pageRows))
    this.#pump()
    this.#changed()
  }

  /** Puts a row that was saved in place of the one read. */
  replace(index: number, row: Row): void {
    const page = this.#pages.get(Math.floor(index / pageRows))
    if (page?.state !== 'ready') return
    page.rows[index % pageRows] = row
    this.#changed()
  }

  /** Index of the first row at hand that is the one sought, or -1. */
  locate(is: (row: Row) => boolean): number {
    for (const [number, page] of this.#pages) {
      if (page.state !== 'ready') continue
      const at = page.rows.findIndex(is)
      if (at >= 0) return number * pageRows + at
    }
    return -1
  }

  close(): void {
    clearTimeout(this.#timer)
    for (const page of this.#pages.values()) if (page.state === 'loading') page.abort.abort()
    this.#pages.clear()
    this.#wanted = []
  }

  #endOf(page: number): number {
    const end = (page + 1) * pageRows
    return this.source.estimated ? end : Math.min(this.count, end)
  }

  #pump(): void {
    let loading = 0
    for (const page of this.#pages.values()) if (page.state === 'loading') loading++
    for (const number of this.#wanted) {
      if (loading >= requestsAtOnce) return
      if (this.#pages.has(number)) continue
      this.#load(number)
      loading++
    }
  }

  #load(number: number): void {
    const abort = new AbortController()
    const settle = (page: Page) => {
      if (abort.signal.aborted) return
      if (page.state === 'ready') this.#seen(number, page.rows.length)
      this.#pages.delete(number)
      this.#pages.set(number, page)
      if (page.state === 'ready') this.#characters += page.characters
      this.#forget()
      this.#changed()
      this.#pump()
    }
    void this.source.fetch(number * pageRows, this.#endOf(number), abort.signal).then(
      (rows) => settle({ state: 'ready', rows: [...rows], characters: sizeOf(rows) }),
      (error: unknown) => settle({ state: 'failed', reason: error instanceof Error ? error.message : String(error) }),
    )
    this.#pages.set(number, { state: 'loading', abort })
  }

  /** Learns from the length of a page where the rows end. */
  #seen(number: number, rows: number): void {
    const end = number * pageRows + rows
    if (rows < pageRows && (rows > 0 || number === 0)) this.count = Math.min(this.count, end)
    else if (rows === 0) this.count = Math.min(this.count, number * pageRows)
    else if (this.source.estimated && end >= this.count) this.count = end + pageRows
  }

  #touch(number: number): void {
    const page = this.#pages.get(number)
    if (!page) return
    this.#pages.delete(number)
    this.#pages.set(number, page)
  }

  #forget(): void {
    for (const [number, page] of this.#pages) {
      if (this.#pages.size <= pagesKept && this.#characters <= charactersKept) return
      if (page.state === 'loading' || this.#wanted.includes(number)) continue
      if (page.state === 'ready') this.#characters -= page.characters
      this.#pages.delete(number)
    }
  }
}

function sizeOf(rows: readonly Row[]): number {
  let characters = 0
  for (const row of rows) for (const value of row) characters += value?.length ?? 0
  return characters
}
