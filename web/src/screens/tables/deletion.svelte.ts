// Deletes rows: at once with an offer to undo where they are few, in steps that can be stopped where they are many.
import { aborted, ApiError } from '../../app/api.ts'
import type { RelationBody, RowChange } from '../../generated/admin.ts'
import { count } from '../../grid/display.ts'
import { rowKey } from '../../grid/selection.ts'
import type { Column, GridState } from '../../grid/types.ts'
import { ask } from '../../kit/confirm.svelte.ts'
import { done as told, failed } from '../../kit/toast.svelte.ts'
import type { Filter } from './filters.ts'
import { keyValues } from './relation.ts'
import { conditions, order, rows } from './rest.ts'
import { offerUndo, rowsAtOnce, send } from './saving.ts'

export class Deletion {
  running = $state(false)
  done = $state(0)
  total = $state(0)
  #stop: AbortController | undefined

  stop(): void {
    this.#stop?.abort()
  }

  /** Deletes the rows selected. False when the person thought better of it, or nothing was deleted. */
  async run(relation: RelationBody, relations: readonly RelationBody[], columns: readonly Column[], selected: GridState['selected'], filters: readonly Filter[], then: () => void, total = selected.keys.length): Promise<boolean> {
    if (this.running || total === 0) return false
    const lost = alsoLost(relation, relations)
    const many = total > rowsAtOnce || selected.all
    if ((many || lost.length > 0) && !await ask({
      title: total === 1 ? 'Delete the row?' : `Delete ${count(total)} rows?`,
      text: many ? 'This cannot be undone.' : 'The rows come back by Undo; what goes with them does not.',
      action: 'Delete', danger: true, consequences: lost, ...(many ? { typeName: relation.name } : {}),
    })) return false
    this.running = true
    this.done = 0
    this.total = total
    const stop = this.#stop = new AbortController()
    try {
      if (selected.all) await this.#all(relation, columns, selected.keys, filters, stop.signal)
      else await this.#named(relation, selected.keys, stop.signal, then)
      return true
    } catch (error) {
      if (aborted(error)) told(`Stopped: ${count(this.done)} rows were deleted`)
      else if (error instanceof ApiError && error.code === 'conflict') failed('Not deleted', new Error('Somebody else has changed or deleted one of the rows meanwhile. Look at them again.'))
      else failed(this.done > 0 ? `Only ${count(this.done)} rows were deleted` : 'Not deleted', error)
      return false
    } finally {
      this.running = false
      then()
    }
  }

  async #named(relation: RelationBody, keys: readonly string[], signal: AbortSignal, then: () => void): Promise<void> {
    for (let at = 0; at < keys.length; at += rowsAtOnce) {
      const changes = keys.slice(at, at + rowsAtOnce).flatMap((id): RowChange[] => {
        const key = keyValues(relation, id)
        return key ? [{ op: 'delete', key }] : []
      })
      const answer = await send(relation, changes, signal)
      this.done += changes.length
      if (keys.length <= rowsAtOnce) offerUndo(relation, keys.length === 1 ? '1 row deleted' : `${count(keys.length)} rows deleted`, answer, then)
    }
    if (keys.length > rowsAtOnce) told(`${count(this.done)} rows deleted`)
  }

  /** All rows under the filters but those kept. */
  async #all(relation: RelationBody, columns: readonly Column[], kept: readonly string[], filters: readonly Filter[], signal: AbortSignal): Promise<void> {
    const keyColumns = columns.filter(({ key }) => key)
    const keep = new Set(kept)
    for (let passed = 0; ;) {
      const found = await rows(relation.schema, relation.name, keyColumns, [...conditions(filters), ...order(relation, []), ['offset', String(passed)], ['limit', String(rowsAtOnce)]], signal)
      const going = found.filter((row) => !keep.has(rowKey(row)))
      passed += found.length - going.length
      if (going.length > 0) {
        await send(relation, going.map((row): RowChange => ({ op: 'delete', key: Object.fromEntries(keyColumns.map(({ name }, i) => [name, row[i] ?? null])) })), signal)
        this.done += going.length
      }
      if (found.length < rowsAtOnce) break
    }
    told(`${count(this.done)} rows deleted`)
  }
}

/** What goes with rows of a table by its foreign keys. */
function alsoLost(relation: RelationBody, relations: readonly RelationBody[]): string[] {
  return relations.flatMap((other) => other.foreign_keys
    .filter((key) => key.ref_schema === relation.schema && key.ref_table === relation.name)
    .flatMap((key) => {
      const what = key.on_delete.toLowerCase()
      if (what === 'cascade') return [`Rows of ${other.schema}.${other.name} that refer to them are deleted too`]
      if (what === 'set null' || what === 'set default') return [`${other.schema}.${other.name}.${key.columns.join(', ')} is ${what} where it refers to them`]
      return []
    }))
}
