// What a change does: its statements, what each locks and reads, and a way that disturbs less.
import { type Name, literal, qualified } from './quote.ts'

/** The lock modes of tables that changes of the structure take (PostgreSQL, "Table-Level Locks"). */
type LockMode = 'ACCESS EXCLUSIVE' | 'EXCLUSIVE' | 'SHARE ROW EXCLUSIVE' | 'SHARE' | 'SHARE UPDATE EXCLUSIVE' | 'ROW SHARE' | 'ACCESS SHARE'

export interface Lock { table: Name, mode: LockMode }

/** What is done with the rows that are there: nothing, read, written anew, or an index made of them. */
export type Work = 'none' | 'scan' | 'rewrite' | 'index'

export interface Statement {
  /** One statement, without a semicolon. */
  sql: string
  locks: readonly Lock[]
  work: Work
  /** Whose rows are worked on. */
  over?: Name
  /** What to know of it beyond locks. */
  note?: string
}

export interface Plan {
  statements: readonly Statement[]
  /** Each statement runs by itself: it cannot, or should not, be in a transaction with others. */
  alone?: boolean
  /** What breaks or is lost. */
  warnings?: readonly string[]
  /** Another way to the same that blocks less. */
  safer?: { label: string, why: string, plan: Plan }
}

/** A statement that takes a lock on a table and changes only the catalog, unless told otherwise. */
export function onTable(sql: string, table: Name, mode: LockMode = 'ACCESS EXCLUSIVE', work: Work = 'none', note?: string): Statement {
  return { sql, locks: [{ table, mode }], work, ...(work === 'none' ? {} : { over: table }), ...(note ? { note } : {}) }
}

/** A statement that nobody waits for. */
export function free(sql: string, note?: string): Statement {
  return { sql, locks: [], work: 'none', ...(note ? { note } : {}) }
}

/** Sets or removes the comment of an object; `kind` and `object` are SQL. */
export function comment(kind: string, object: string, text: string, table?: Name): Statement {
  const sql = `comment on ${kind} ${object} is ${text === '' ? 'null' : literal(text)}`
  return table ? onTable(sql, table, 'SHARE UPDATE EXCLUSIVE') : free(sql)
}

/** Says in words who waits for a lock. */
export function waits(mode: LockMode): { reads: boolean, writes: boolean, words: string } {
  switch (mode) {
    case 'ACCESS EXCLUSIVE': return { reads: false, writes: false, words: 'reads and writes wait' }
    case 'EXCLUSIVE':
    case 'SHARE ROW EXCLUSIVE':
    case 'SHARE': return { reads: true, writes: false, words: 'reads go on, writes wait' }
    case 'SHARE UPDATE EXCLUSIVE': return { reads: true, writes: true, words: 'reads and writes go on' }
    case 'ROW SHARE':
    case 'ACCESS SHARE': return { reads: true, writes: true, words: 'nobody waits' }
  }
}

/** Tables that a plan works on, each once, by their quoted names. */
export function tablesOf(plan: Plan): Name[] {
  const found = new Map<string, Name>()
  for (const { locks, over } of plan.statements) for (const table of [...locks.map((lock) => lock.table), ...over ? [over] : []]) found.set(qualified(table), table)
  return [...found.values()]
}

/** Plans one after the other. The safer way is offered when only one of them has one. */
export function together(...plans: readonly Plan[]): Plan {
  const filled = plans.filter((plan) => plan.statements.length > 0 || plan.warnings?.length)
  const warnings = filled.flatMap((plan) => plan.warnings ?? [])
  const risky = filled.filter((plan) => plan.safer)
  const join = (replaced?: Plan): Pick<Plan, 'statements' | 'alone'> => {
    const parts = filled.map((plan) => plan === replaced ? plan.safer!.plan : plan)
    return { statements: parts.flatMap((plan) => plan.statements), ...(parts.some((plan) => plan.alone) ? { alone: true } : {}) }
  }
  return {
    ...join(),
    ...(warnings.length ? { warnings } : {}),
    ...(risky.length === 1 ? { safer: { ...risky[0]!.safer!, plan: { ...join(risky[0]), ...(warnings.length ? { warnings } : {}) } } } : {}),
  }
}

/** No change. */
export const nothing: Plan = { statements: [] }
