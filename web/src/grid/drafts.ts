import type { Change, Column, Row, SaveOutcome, Value } from './types.ts'

/** Why a draft was not saved; with a column, at that cell. */
export interface Refusal {
  column?: string
  reason: string
}

/** What a person has changed in a row and not saved yet. Insertions have no `was`. */
export interface Draft {
  /** The row's key, or a name of its own for a row to be inserted. */
  id: string
  /** The row as it was read. */
  was: Row | null
  set: ReadonlyMap<string, Value>
  state: 'edited' | 'saving' | 'refused' | 'conflict'
  refusal?: Refusal
  /** What the row holds now, when somebody else changed it: null when it was deleted. */
  theirs?: Row | null
}

/** All drafts: rows to insert in the order shown, and edited rows by key. Values are replaced, never changed. */
export interface Drafts {
  inserts: readonly Draft[]
  edits: ReadonlyMap<string, Draft>
}

export const noDrafts: Drafts = { inserts: [], edits: new Map() }

export function isEmpty(drafts: Drafts): boolean {
  return drafts.inserts.length === 0 && drafts.edits.size === 0
}

/** How many rows have a draft. */
export function size(drafts: Drafts): number {
  return drafts.inserts.length + drafts.edits.size
}

export function find(drafts: Drafts, id: string): Draft | undefined {
  return drafts.edits.get(id) ?? drafts.inserts.find((d) => d.id === id)
}

/** Sets cells of a row. A cell set to what was read is no change; undefined takes a cell back (to the default of an insert). */
export function set(
  drafts: Drafts,
  id: string,
  was: Row | null,
  cells: readonly (readonly [Column, number, Value | undefined])[],
): Drafts {
  const old = find(drafts, id)
  const base = old?.was ?? was
  const values = new Map(old?.set)
  for (const [column, at, value] of cells) {
    if (value === undefined || (base && base[at] === value)) values.delete(column.name)
    else values.set(column.name, value)
  }
  const draft: Draft = { id, was: base, set: values, state: 'edited' }
  if (old?.state === 'conflict') {
    draft.state = 'conflict'
    draft.theirs = old.theirs ?? null
  }
  if (!base) {
    return { ...drafts, inserts: drafts.inserts.map((d) => (d.id === id ? draft : d)) }
  }
  const edits = new Map(drafts.edits)
  if (values.size === 0) edits.delete(id)
  else edits.set(id, draft)
  return { ...drafts, edits }
}

/** Puts a new row before the others. */
export function insert(drafts: Drafts, id: string, values: ReadonlyMap<string, Value>): Drafts {
  return { ...drafts, inserts: [{ id, was: null, set: values, state: 'edited' }, ...drafts.inserts] }
}

/** Forgets the draft of one row. */
export function discard(drafts: Drafts, id: string): Drafts {
  const edits = new Map(drafts.edits)
  edits.delete(id)
  return { inserts: drafts.inserts.filter((d) => d.id !== id), edits }
}

/** Drafts in the order in which they are saved: insertions as shown, then edits. */
export function all(drafts: Drafts): Draft[] {
  return [...drafts.inserts, ...drafts.edits.values()]
}

export function mark(drafts: Drafts, state: Draft['state']): Drafts {
  const as = (d: Draft): Draft => ({ id: d.id, was: d.was, set: d.set, state })
  return { inserts: drafts.inserts.map(as), edits: new Map([...drafts.edits].map(([id, d]) => [id, as(d)])) }
}

export function toChange(columns: readonly Column[], draft: Draft): Change {
  const change: Change = { op: draft.was ? 'update' : 'insert', key: {}, set: Object.fromEntries(draft.set), was: {} }
  if (!draft.was) return change
  columns.forEach((column, at) => {
    const value = draft.was?.[at] ?? null
    if (column.key) change.key[column.name] = value
    if (draft.set.has(column.name)) change.was[column.name] = value
  })
  return change
}

/** What is left of the drafts after those `sent` had this outcome. Cells edited meanwhile stay. */
export function settle(drafts: Drafts, sent: readonly Draft[], outcome: SaveOutcome): Drafts {
  const after = new Map<string, Draft | null>()
  sent.forEach((was, index) => {
    const now = find(drafts, was.id)
    if (!now) return
    if (outcome.status === 'saved') {
      after.set(was.id, afterSaved(now, was, outcome.rows[index] ?? null))
    } else if (outcome.status === 'refused') {
      const refused = outcome.index === index
      const refusal: Refusal = { reason: outcome.reason }
      if (outcome.column !== undefined) refusal.column = outcome.column
      after.set(was.id, refused ? { ...now, state: 'refused', refusal } : { ...now, state: 'edited' })
    } else {
      const conflict = outcome.conflicts.find((c) => c.index === index)
      after.set(was.id, conflict ? { ...now, state: 'conflict', theirs: conflict.theirs } : { ...now, state: 'edited' })
    }
  })
  const keep = (d: Draft): Draft[] => {
    const next = after.get(d.id)
    return next === undefined ? [d] : next === null ? [] : [next]
  }
  return {
    inserts: drafts.inserts.flatMap(keep),
    edits: new Map([...drafts.edits.values()].flatMap(keep).map((d) => [d.id, d])),
  }
}

function afterSaved(now: Draft, sent: Draft, row: Row | null): Draft | null {
  const newer = [...now.set].filter(([name, value]) => sent.set.get(name) !== value || !sent.set.has(name))
  if (newer.length === 0 || !now.was) return null
  return { id: now.id, was: row ?? now.was, set: new Map(newer), state: 'edited' }
}

/** Ends a conflict: `mine` keeps the edits, now over what the other one wrote; `theirs` drops them. */
export function resolve(drafts: Drafts, id: string, keep: 'mine' | 'theirs'): Drafts {
  const draft = drafts.edits.get(id)
  if (!draft) return drafts
  const edits = new Map(drafts.edits)
  if (keep === 'theirs' || !draft.theirs) edits.delete(id)
  else edits.set(id, { id, was: draft.theirs, set: draft.set, state: 'edited' })
  return { ...drafts, edits }
}
