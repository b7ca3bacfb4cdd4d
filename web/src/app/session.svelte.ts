// Who is signed in, and when that ends.
import type { Me, OwnSession, ServerInfo, SignedIn } from '../generated/admin.ts'
import { ApiError, api, onSessionEnd } from './api.ts'
import { forgetAll } from './query.svelte.ts'

export type Role = 'owner' | 'editor' | 'viewer'
const ranks: Record<Role, number> = { viewer: 0, editor: 1, owner: 2 }

class Session {
  /** `ended` is a session that was there and is not any more: the screen stays and asks to sign in again. */
  state = $state<'unknown' | 'none' | 'open' | 'ended' | 'unreachable'>('unknown')
  #body = $state.raw<SignedIn>()
  error = $state.raw<ApiError>()
  /** The person signed out: there is nothing to come back to. */
  left = false
  /** When the session was given: a refusal of what was asked before is of the one before. */
  #since = 0

  constructor() {
    onSessionEnd((asked) => { if (this.state === 'open' && asked >= this.#since) this.state = 'ended' })
  }

  get administrator(): Me { return this.#body!.administrator }
  get server(): ServerInfo { return this.#body!.server }
  get own(): OwnSession { return this.#body!.session }
  /** There is something to show of a session, open or just ended. */
  get present(): boolean { return this.#body !== undefined }

  /** Whether the administrator may do what needs a role. The server decides; this is for what is shown. */
  may(least: Role): boolean {
    return this.#body !== undefined && ranks[this.#body.administrator.role as Role] >= ranks[least]
  }

  /** Asks the server who is signed in. */
  async check(): Promise<void> {
    const asked = performance.now()
    try {
      this.opened(await api.get<SignedIn>('/session', { quiet: true }))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.status === 401 && asked < this.#since) return
      if (error.status === 401) this.state = this.state === 'open' || this.state === 'ended' ? 'ended' : 'none'
      else {
        this.error = error
        if (this.state === 'unknown') this.state = 'unreachable'
      }
    }
  }

  /** Takes a session that signing in, setting up or joining gave. */
  opened(body: SignedIn): void {
    if (this.#body && this.#body.administrator.id !== body.administrator.id) forgetAll()
    this.#body = body
    this.#since = performance.now()
    this.state = 'open'
    this.error = undefined
  }

  async signOut(): Promise<void> {
    await api.delete('/session', undefined, { quiet: true }).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.status === 401)) throw error // it has ended already
    })
    this.#body = undefined
    this.left = true
    this.state = 'none'
    forgetAll()
  }
}

export const session = new Session()
