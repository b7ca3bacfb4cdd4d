import type { RungsBody } from '../../generated/admin.ts'

/**
 * How long (ms) rungs are waited for. On a busy machine they are late, but an offset would be later by more; only where
 * a policy takes long for every row, or no page of the table has been vacuumed yet, may it be the faster way.
 */
export const rungsPatience = 3000

/** A value of each column of a key, as PostgreSQL writes it. */
export type Key = readonly string[]

export interface Anchor {
  row: number
  key: Key
}

/** Rows whose key is known: others near to one of them are found from it, where an offset would pass over all rows before. */
export class Anchors {
  readonly #keys = new Map<number, Key>()
  #coming: Promise<void> | undefined
  #far = Infinity

  remember(row: number, key: Key): void {
    this.#keys.set(row, key)
  }

  /**
   * Takes keys at even distances when they are there. Reading them passes once over the keys of all `count` rows, which
   * is much cheaper than to pass over whole rows: so who wants rows far from all that are known waits for them.
   */
  expect(rungs: Promise<RungsBody>, count: number): void {
    this.#far = count / 10
    const come = rungs.then(
      ({ step, keys }) => keys.forEach((key, i) => this.#keys.set((i + 1) * step - 1, key)),
      () => undefined, // without them rows are only found more slowly
    )
    const patience = new Promise<void>((over) => setTimeout(over, rungsPatience))
    this.#coming = Promise.race([come, patience]).then(() => { this.#coming = undefined })
  }

  /** The row outside of a range that is nearest to it, of those whose key is known; undefined when the beginning is nearer. */
  async nearest(start: number, end: number): Promise<Anchor | undefined> {
    if (this.#coming && this.#nearest(start, end).distance > this.#far) await this.#coming
    return this.#nearest(start, end).anchor
  }

  #nearest(start: number, end: number): { anchor: Anchor | undefined, distance: number } {
    let anchor: Anchor | undefined
    let distance = start // from the beginning
    for (const [row, key] of this.#keys) {
      const here = row < start ? start - row : row >= end ? row - end : Infinity
      if (here < distance) {
        distance = here
        anchor = { row, key }
      }
    }
    return { anchor, distance }
  }
}
