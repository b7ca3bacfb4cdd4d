import { allowsEmpty } from '../kinds.ts'
import type { Column, Value } from '../types.ts'
import { refuse } from '../validate.ts'

/** Characters beyond which a value is shown but not edited in place: a text box of megabytes freezes. */
export const editable = 1_000_000

/** A value while it is being edited: text, or null, or the column's default. */
export class Edit {
  readonly column: Column
  readonly inserting: boolean
  readonly typed: string | null
  readonly before: Value | undefined
  #text = $state('')
  special = $state<'null' | 'default' | null>(null)

  constructor(column: Column, before: Value | undefined, typed: string | null, inserting: boolean) {
    this.column = column
    this.before = before
    this.typed = typed
    this.inserting = inserting
    this.#text = typed ?? before ?? ''
    if (typed === null && before === null) this.special = 'null'
    if (typed === null && before === undefined) this.special = 'default'
  }

  get text(): string {
    return this.#text
  }

  set text(text: string) {
    this.#text = text
    this.special = null
  }

  /** Takes null, the default, or (with '') the empty string. */
  become(special: 'null' | 'default' | null): void {
    this.#text = ''
    this.special = special
  }

  get value(): Value | undefined {
    if (this.special === 'null') return null
    if (this.special === 'default') return undefined
    if (this.#text === '' && !allowsEmpty(this.column.kind)) return this.inserting && this.column.default !== undefined ? undefined : null
    return this.#text
  }

  get fault(): string | null {
    return refuse(this.column, this.value, this.inserting)
  }

  get hint(): string {
    if (this.special === 'null') return 'NULL'
    if (this.special === 'default') return this.column.default ?? 'default'
    return ''
  }
}
