// As whom data are read and written: the owner of the database, or a role and a user, so that policies are seen at work.
// Administrators who only read never act as the owner: theirs is the service role.
import { invalidate } from './query.svelte.ts'
import { session } from './session.svelte.ts'

export interface Viewer { role: string, user?: string, label?: string }

const key = 'basalt.viewas'

function stored(): Viewer | undefined {
  // A link says it by ?as=role or ?as=role:user.
  const asked = new URLSearchParams(location.search).get('as')
  if (asked !== null) {
    const [role, user] = asked.split(':', 2)
    return role ? { role, ...(user ? { user } : {}) } : undefined
  }
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(key) ?? 'null')
    if (typeof value === 'object' && value !== null && 'role' in value && typeof value.role === 'string') return value as Viewer
  } catch {
    // nothing that this page wrote
  }
  return undefined
}

class ViewAs {
  #viewer = $state.raw(stored())

  /** What was chosen; undefined is what the administrator has of their own, see `own`. */
  get viewer(): Viewer | undefined { return this.#viewer }
  set viewer(value: Viewer | undefined) {
    this.#viewer = value
    try {
      if (value) sessionStorage.setItem(key, JSON.stringify(value))
      else sessionStorage.removeItem(key)
    } catch {
      // it holds until the page is closed
    }
    invalidate()
  }

  /** The role of those who only read, while nothing was chosen; undefined for others, who are the owner of the database. */
  get ownRole(): 'service_role' | undefined { return session.may('editor') ? undefined : 'service_role' }

  /** How that is shown. */
  get own(): string { return this.ownRole ?? 'database owner' }

  /** The role of PostgreSQL that reads, undefined for the owner of the database. */
  get role(): string | undefined { return this.#viewer?.role ?? this.ownRole }

  /** The user that was chosen, as shown; undefined when none was. */
  get user(): string | undefined {
    const viewer = this.#viewer
    return viewer?.user && (viewer.label ?? viewer.user.slice(0, 8))
  }

  /** How it is shown. */
  get name(): string {
    return this.#viewer === undefined ? this.own : [this.#viewer.role, this.user].filter(Boolean).join(' · ')
  }

  /** What requests for data carry. */
  get headers(): Record<string, string> {
    const viewer = this.#viewer
    return viewer === undefined ? {} : { 'X-View-As-Role': viewer.role, ...(viewer.user ? { 'X-View-As-User': viewer.user } : {}) }
  }
}

export const viewAs = new ViewAs()
