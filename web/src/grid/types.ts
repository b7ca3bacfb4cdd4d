/** The values that pass between the grid and its owner. */

/** PostgreSQL's own text of a value, or null. Never a float: big integers and numerics stay exact. */
export type Value = string | null

/** The values of one row, in the order of the columns given to the grid. */
export type Row = readonly Value[]

/** How a column is shown and edited; `kindOf` finds it from the catalog's description of the type. */
export type Kind =
  | 'text'
  | 'integer'
  | 'numeric'
  | 'float'
  | 'boolean'
  | 'json'
  | 'array'
  | 'enum'
  | 'date'
  | 'time'
  | 'timestamp'
  | 'uuid'
  | 'bytea'
  | 'other'

export interface Column {
  /** Unique among the columns of one grid. */
  name: string
  /** PostgreSQL's name of the type as `format_type` spells it: `bigint`, `timestamp with time zone`, `text[]`. */
  type: string
  kind: Kind
  /** Kind and type of an array's elements. */
  element?: { kind: Kind; type: string; enumValues?: readonly string[] }
  enumValues?: readonly string[]
  nullable: boolean
  /** The default's expression. A draft row that does not set the column gets it. */
  default?: string
  /** Part of what identifies a row. A grid without any such column cannot be edited. */
  key?: boolean
  /** Generated columns and columns the role may not write. */
  readonly?: boolean
  /** Where a foreign key of this column leads, as a person reads it: `public.authors.id`. */
  reference?: string
  comment?: string
}

/** Where rows come from. A new object means new rows: the grid forgets what it had read. */
export interface Source {
  /** How many rows there are. */
  count: number
  /** Whether count is an estimate: it is then shown with "~". */
  estimated: boolean
  /** Rows from (included) to (excluded); fewer when there are fewer. Rejects with a message fit for a person. */
  fetch(from: number, to: number, signal: AbortSignal): Promise<Row[]>
}

export interface Sort {
  column: string
  descending: boolean
}

export type Density = 'compact' | 'normal' | 'roomy'

/** Rows a person has ticked: the keys named, or (`all`) every row but those. */
export interface Selected {
  all: boolean
  keys: readonly string[]
}

/** What a person has arranged. Plain and serialisable, so that it can live in a URL. */
export interface GridState {
  /** Pixels by column name; columns not named are as wide as the first rows need. */
  widths: Readonly<Record<string, number>>
  /** Names in the order shown; columns not named follow in their own order. */
  order: readonly string[]
  hidden: readonly string[]
  /** How many of the columns shown stay at the left. */
  frozen: number
  sort: readonly Sort[]
  density: Density
  /** First row in view, 0-based. */
  row: number
  selected: Selected
}

/** One change to be saved. Columns absent from an insert's `set` take their default. */
export interface Change {
  op: 'insert' | 'update'
  /** Values of the key columns as they were read; empty for an insert. */
  key: Record<string, Value>
  set: Record<string, Value>
  /** What the changed columns held when they were read: the condition of the update. */
  was: Record<string, Value>
}

/** What became of all changes of one save, which is one transaction. `index` counts in the changes given. */
export type SaveOutcome =
  | { status: 'saved'; rows: readonly (Row | null)[] }
  | { status: 'refused'; index: number; column?: string; reason: string; /** It may have been saved for all that. */ unsure?: boolean }
  | { status: 'conflict'; conflicts: readonly { index: number; theirs: Row | null }[] }

/** A row that a foreign key may name. */
export interface Choice {
  key: string
  label: string
  /** The referenced row: names and values. */
  preview: readonly (readonly [string, Value])[]
}

/** Finds rows for a foreign key. With `exact` text is a key, and only its row is wanted. */
export type Lookup = (column: Column, text: string, signal: AbortSignal, exact: boolean) => Promise<readonly Choice[]>

export const initialState: GridState = {
  widths: {},
  order: [],
  hidden: [],
  frozen: 0,
  sort: [],
  density: 'normal',
  row: 0,
  selected: { all: false, keys: [] },
}
