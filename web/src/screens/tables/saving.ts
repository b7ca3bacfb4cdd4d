// Changes rows in one transaction, and offers to take it back.
import { api, ApiError } from '../../app/api.ts'
import { viewAs } from '../../app/viewas.svelte.ts'
import type { ConflictsBody, RelationBody, RowChange, RowsBody } from '../../generated/admin.ts'
import type { Change, Column, Row, SaveOutcome } from '../../grid/types.ts'
import { undoable } from '../../kit/toast.svelte.ts'

/** How many rows one request may change. */
export const rowsAtOnce = 1000

export function send(relation: RelationBody, changes: readonly RowChange[], signal?: AbortSignal): Promise<RowsBody> {
  const path = `/rows/${encodeURIComponent(relation.schema)}/${encodeURIComponent(relation.name)}`
  return api.post<RowsBody>(path, { changes }, { headers: viewAs.headers, ...(signal ? { signal } : {}) })
}

/** Offers to undo what an answer tells of; `then` reads anew. */
export function offerUndo(relation: RelationBody, said: string, answer: RowsBody, then: () => void): void {
  undoable(said, async () => {
    await send(relation, answer.undo)
    then()
  })
}

function inOrder(columns: readonly Column[], values: Record<string, string | null>): Row {
  return columns.map(({ name }) => values[name] ?? null)
}

/** The column that a refusal is about: as PostgreSQL names it, or the first of the constraint that was broken. */
function blamed(relation: RelationBody, error: ApiError, change: RowChange | undefined): string | undefined {
  if (error.column) return error.column
  if (error.constraint) {
    const all = [...relation.uniques, ...relation.checks, ...relation.exclusions, ...relation.foreign_keys]
    const columns = all.find((one) => one.name === error.constraint)?.columns
      ?? (relation.indexes.some((index) => index.primary && index.name === error.constraint) ? relation.primary_key : [])
    return columns.find((name) => name in (change?.set ?? {})) ?? columns[0]
  }
  const set = Object.keys(change?.set ?? {})
  return set.length === 1 ? set[0] : undefined
}

/** Saves what the grid's drafts are, and says what became of them. */
export async function save(relation: RelationBody, columns: readonly Column[], changes: readonly Change[], then: () => void): Promise<SaveOutcome> {
  if (changes.length > rowsAtOnce) {
    return { status: 'refused', index: -1, reason: `At most ${rowsAtOnce} rows are saved at once: import a file for more` }
  }
  const bodies = changes.map((change): RowChange => change.op === 'insert' ? { op: 'insert', set: change.set } : change)
  try {
    const answer = await send(relation, bodies)
    offerUndo(relation, changes.length === 1 ? '1 row saved' : `${changes.length} rows saved`, answer, then)
    const places = columns.map(({ name }) => answer.columns.indexOf(name))
    return { status: 'saved', rows: answer.rows.map((row) => row && places.map((at) => row[at] ?? null)) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.code === 'conflict') {
      const { conflicts } = error.body as unknown as ConflictsBody
      return { status: 'conflict', conflicts: conflicts.map(({ index, theirs }) => ({ index, theirs: (theirs as typeof theirs | null) && inOrder(columns, theirs) })) }
    }
    const index = typeof error.body.index === 'number' ? error.body.index : changes.length === 1 ? 0 : -1
    const column = blamed(relation, error, bodies[index])
    const unsure = error.unsure || error.code === 'connection_lost'
    return { status: 'refused', index, unsure, ...(column === undefined ? {} : { column }), reason: [error.message, error.details, error.hint].filter(Boolean).join(' · ') }
  }
}
