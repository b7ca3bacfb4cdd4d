/**
 * Which rows are in view. Browsers cap the height of an element (Chromium at 33.5 million pixels, Firefox at
 * 17.9 million), so beyond a height of our own the scroll bar stands for more pixels than it has: small
 * movements are taken one to one, large ones (the bar dragged) in proportion, and when scrolling rests the
 * bar is put where the proportion wants it, without moving what is seen.
 */

/** Height of the scrolled element at most, in pixels. Well below every browser's cap. */
export const tallest = 8_000_000

interface Span {
  /** Pixels from the top of all rows to the top of the view. */
  top: number
  /** What to add to a row's pixels to place it in the scrolled element. */
  base: number
}

export class Scroller {
  rows = 0
  rowHeight = 32
  /** Height of the part of the view that shows rows, pixels. */
  view = 0
  top = 0
  #scrollTop = 0

  get total(): number {
    return this.rows * this.rowHeight
  }

  /** Height of the scrolled element. */
  get height(): number {
    return Math.min(this.total, tallest)
  }

  get #furthest(): number {
    return Math.max(0, this.total - this.view)
  }

  get #furthestScroll(): number {
    return Math.max(0, this.height - this.view)
  }

  get mapped(): boolean {
    return this.total > tallest
  }

  get span(): Span {
    return { top: this.top, base: this.#scrollTop - this.top }
  }

  /** Takes the position the browser reports. */
  scrolled(scrollTop: number): void {
    const moved = scrollTop - this.#scrollTop
    this.#scrollTop = scrollTop
    if (!this.mapped) this.top = scrollTop
    else if (moved !== 0 && scrollTop <= 0) this.top = 0
    else if (moved !== 0 && scrollTop >= this.#furthestScroll) this.top = this.#furthest
    else if (Math.abs(moved) <= 2 * this.view) this.top += moved
    else this.top = (scrollTop / this.#furthestScroll) * this.#furthest
    this.top = Math.min(this.#furthest, Math.max(0, this.top))
  }

  /** Shows the pixels from `top` on; answers the position to give the browser. */
  to(top: number): number {
    this.top = Math.min(this.#furthest, Math.max(0, top))
    this.#scrollTop = this.settled()
    return this.#scrollTop
  }

  /** Takes the position the browser made of the one it was given; what is in view stays. */
  at(scrollTop: number): void {
    this.#scrollTop = scrollTop
  }

  /** Where the bar belongs for what is in view. */
  settled(): number {
    if (!this.mapped) return this.top
    const scroll = Math.round((this.top / this.#furthest) * this.#furthestScroll)
    // The ends of the bar mean the ends of the rows: nothing else may rest there.
    if (this.top > 0 && scroll < 1) return 1
    if (this.top < this.#furthest && scroll > this.#furthestScroll - 1) return Math.floor(this.#furthestScroll - 1)
    return scroll
  }

  /** Rows to draw: those in view and `over` more at each side, first included, last excluded. */
  rowsInView(over: number): [number, number] {
    const first = Math.floor(this.top / this.rowHeight)
    const last = Math.ceil((this.top + this.view) / this.rowHeight)
    return [Math.max(0, first - over), Math.min(this.rows, last + over)]
  }

  /** The top that brings a row fully into view with the least movement. */
  reveal(row: number): number {
    const start = row * this.rowHeight
    if (start < this.top) return start
    if (start + this.rowHeight > this.top + this.view) return start + this.rowHeight - this.view
    return this.top
  }
}

/** An element that draws a row, or a column of one, and which one (its index) it draws now. */
export interface Slot {
  readonly key: number
  readonly at: number
}

/**
 * Gives rows (or columns) elements: one that stays keeps its own, one that comes takes that of one that went.
 * Scrolling then changes texts, and neither makes nor drops elements. Elements that none takes are dropped; with
 * `spare` those that draw one below it stay as they are, for the next to come.
 */
export function reuse(before: readonly Slot[], drawn: readonly number[], spare = 0): Slot[] {
  const coming = new Set(drawn)
  const kept: Slot[] = []
  const free: Slot[] = []
  for (const slot of before) (coming.delete(slot.at) ? kept : free).push(slot)
  let next = 1 + Math.max(-1, ...before.map((slot) => slot.key))
  for (const at of coming) kept.push({ key: free.shift()?.key ?? next++, at })
  return kept.concat(free.filter((slot) => slot.at < spare))
}
