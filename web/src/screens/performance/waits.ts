// Who waits for whom, as a tree: at its roots those who wait for nobody.
import type { SessionBody } from '../../generated/admin.ts'

export interface Waiting { session: SessionBody, waiters: Waiting[] }

/** The sessions that hold others up, each with those that wait for it. One that waits for several is shown below each. */
export function waits(sessions: readonly SessionBody[]): Waiting[] {
  const known = new Set(sessions.map((session) => session.pid))
  const below = (session: SessionBody, above: ReadonlySet<number>): Waiting => {
    const seen = new Set(above).add(session.pid) // a deadlock is a ring until PostgreSQL breaks it
    return { session, waiters: sessions.filter((one) => one.blocked_by.includes(session.pid) && !seen.has(one.pid)).map((one) => below(one, seen)) }
  }
  const blocking = new Set(sessions.flatMap((session) => session.blocked_by))
  const roots = sessions.filter((session) => blocking.has(session.pid) && !session.blocked_by.some((pid) => known.has(pid)))
  if (roots.length > 0 || blocking.size === 0) return roots.map((session) => below(session, new Set()))
  return sessions.filter((session) => blocking.has(session.pid)).slice(0, 1).map((session) => below(session, new Set())) // a ring has no root
}

/** How many wait below. */
export function held(one: Waiting): number {
  return one.waiters.reduce((sum, waiter) => sum + 1 + held(waiter), 0)
}
