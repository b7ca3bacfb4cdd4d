import type { Snippet } from 'svelte'

/** A column of a DataTable. */
export interface Column<R> {
  key: string
  label: string
  align?: 'start' | 'end'
  mono?: boolean
  /** A CSS width; the rest is shared by content. */
  width?: string
  /** What is shown and sorted by. */
  text?: (row: R) => string | number | null | undefined
  /** Drawn in place of the text. */
  cell?: Snippet<[R]>
  /** The column's name is read out, not drawn: for buttons. */
  bare?: boolean
  sortable?: boolean
  /** Long text goes on in further lines. */
  wrap?: boolean
  /** In a list, which a table becomes where room is short, the line of its own at the top; the first column when none says so. */
  lead?: boolean
  /** Understood without the column's name, which a list leaves out then. */
  clear?: boolean
  /** Left out where there is room for a table, yet not for all of it. */
  spare?: boolean
}
