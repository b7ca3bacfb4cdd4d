// One run of statements: the stream of what they give, as it arrives, and its end.
import { ApiError, aborted, api } from '../../app/api.ts'
import { session } from '../../app/session.svelte.ts'
import type { Viewer } from '../../app/viewas.svelte.ts'
import type { ErrorBody, SQLBody, SQLColumn, SQLComplete, SQLFinished, SQLLine, SQLNotice, SQLStatement } from '../../generated/admin.ts'
import type { Row } from '../../grid/types.ts'
import { readPlan, type Plan } from './plan.ts'

/** How often (ms) what has arrived is shown. */
const shownEach = 100
/** Characters of results that a page holds: more would fill the memory of the browser. */
const mostHeld = 200_000_000

interface Wanted {
  sql: string
  /** Where the text that is run stands in the editor's, in UTF-16 units. */
  offset: number
  viewer: Viewer | undefined
  timeoutMs: number
  maxRows: number
  readOnly: boolean
  explain?: 'plan' | 'analyze'
}

/** What a statement has given so far. */
export class Outcome {
  readonly statement: SQLStatement
  readonly #at = performance.now()
  columns = $state.raw<readonly SQLColumn[]>()
  /** Grows while they arrive; `count` tells how many are to be shown. */
  rows: Row[] = []
  count = $state(0)
  notices = $state.raw<readonly SQLNotice[]>([])
  complete = $state.raw<SQLComplete>()
  error = $state.raw<ApiError>()
  plan = $state.raw<Plan>()

  constructor(statement: SQLStatement) { this.statement = statement }

  get state(): 'running' | 'done' | 'failed' { return this.error ? 'failed' : this.complete ? 'done' : 'running' }
  get elapsed(): number { return performance.now() - this.#at }
}

/** UUID of version 4; crypto.randomUUID is not there for pages without TLS. */
function uuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = bytes[6]! & 15 | 64
  bytes[8] = bytes[8]! & 63 | 128
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

export class Run {
  readonly id = uuid()
  readonly wanted: Wanted
  readonly #stop = new AbortController()
  outcomes = $state.raw<readonly Outcome[]>([])
  running = $state(true)
  cancelling = $state(false)
  finished = $state.raw<SQLFinished>()
  /** What went wrong beside the statements: refused as a whole, or cut off. */
  error = $state.raw<Error>()
  elapsed = $state(0)
  #held = 0

  constructor(wanted: Wanted) { this.wanted = wanted }

  /** The error there is, wherever it is. */
  get failure(): Error | undefined { return this.error ?? this.outcomes.find((outcome) => outcome.error)?.error }

  async start(): Promise<void> {
    const { wanted } = this
    const began = performance.now()
    const clock = setInterval(() => {
      this.elapsed = performance.now() - began
      this.#show()
    }, shownEach)
    const body: SQLBody = {
      id: this.id, sql: wanted.sql, timeout_ms: wanted.timeoutMs, max_rows: wanted.maxRows, read_only: wanted.readOnly,
      ...(wanted.viewer ? { role: wanted.viewer.role, ...(wanted.viewer.user ? { user: wanted.viewer.user } : {}) } : {}),
      ...(wanted.explain ? { explain: wanted.explain } : {}),
    }
    try {
      for await (const line of api.lines<SQLLine>('POST', '/sql', body, { signal: this.#stop.signal })) this.#take(line)
      if (!this.finished) throw new ApiError(0, { code: 'network', message: 'The answer was cut off before its end.', hint: 'Whether the last statement was carried out is not known: look before you run it again.' })
    } catch (error) {
      if (!aborted(error)) this.error = error instanceof Error ? error : new Error(String(error))
      else this.error ??= new ApiError(0, { code: '57014', message: 'The run was cancelled' })
    } finally {
      clearInterval(clock)
      this.#show()
      if (this.failure instanceof ApiError && this.failure.code === 'signed_out') void session.check()
      this.elapsed = performance.now() - began
      this.running = false
    }
  }

  /** Asks PostgreSQL to end what is under way; the answer still tells how it ended. */
  async cancel(): Promise<void> {
    if (!this.running || this.cancelling) return
    this.cancelling = true
    try {
      await api.delete(`/sql/${this.id}`)
    } catch (error) {
      // Not yet begun, or over already: leaving ends it in any case.
      if (error instanceof ApiError && error.status !== 404) this.error = error
      this.#stop.abort()
    }
  }

  /** Nobody waits any more: the server cancels as well. */
  leave(): void { this.#stop.abort() }

  #take(line: SQLLine): void {
    const now = this.outcomes.at(-1)
    if (line.statement) this.outcomes = [...this.outcomes, new Outcome(line.statement)]
    else if (line.finished) {
      this.finished = line.finished
      this.running = false
    }
    else if (!now) {
      if (line.error) this.error = failure(line.error)
    } else if (line.columns) now.columns = line.columns
    else if (line.rows) {
      for (const row of line.rows) {
        now.rows.push(row)
        for (const value of row) this.#held += value?.length ?? 0
      }
      if (this.#held > mostHeld) {
        this.error = new ApiError(0, { code: 'too_large', message: 'The result is larger than a page can hold, so the run was ended.', hint: 'Ask for fewer rows or columns, or export the table as a file.' })
        this.leave()
      }
    } else if (line.notice) now.notices = [...now.notices, line.notice].slice(-500)
    else if (line.plan) now.plan = readPlan(line.plan)
    else if (line.complete) {
      now.complete = line.complete
      now.count = now.rows.length
    } else if (line.error) now.error = failure(line.error)
  }

  #show(): void {
    const now = this.outcomes.at(-1)
    if (now) now.count = now.rows.length
  }
}

const failure = (body: ErrorBody) => new ApiError(200, { ...body })

/** Units of UTF-16 that so many characters of a text take. */
export function unitsOf(text: string, characters: number): number {
  let at = 0
  for (let i = 0; i < characters && at < text.length; i++) at += text.codePointAt(at)! > 0xffff ? 2 : 1
  return at
}
