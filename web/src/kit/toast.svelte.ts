// Short messages at the edge of the screen: what was done, and its undoing.

export interface Toast {
  id: number
  text: string
  kind: 'plain' | 'good' | 'bad'
  /** More lines below, such as PostgreSQL's detail. */
  details?: string
  action?: { label: string, run: () => void | Promise<void> }
  /** For how long it stays, in seconds; 0 until it is closed. */
  seconds: number
}

class Toasts {
  list = $state.raw<readonly Toast[]>([])
  #next = 1
  #timers = new Map<number, ReturnType<typeof setTimeout>>()

  add(toast: Partial<Toast> & { text: string }): number {
    const whole: Toast = { kind: 'plain', seconds: toast.kind === 'bad' ? 0 : toast.action ? 10 : 5, ...toast, id: this.#next++ }
    this.list = [...this.list, whole].slice(-4)
    this.resume(whole.id)
    return whole.id
  }

  close(id: number): void {
    this.pause(id)
    this.list = this.list.filter((toast) => toast.id !== id)
  }

  /** Stops the clock of a toast that is read. */
  pause(id: number): void {
    clearTimeout(this.#timers.get(id))
    this.#timers.delete(id)
  }

  resume(id: number): void {
    const toast = this.list.find((one) => one.id === id)
    this.pause(id)
    if (toast && toast.seconds > 0) this.#timers.set(id, setTimeout(() => this.close(id), toast.seconds * 1000))
  }
}

export const toasts = new Toasts()

/** Says that something was done. */
export function done(text: string, details?: string): void {
  toasts.add({ text, kind: 'good', ...(details ? { details } : {}) })
}

/** Says that something was done and offers to take it back for 10 s. */
export function undoable(text: string, undo: () => void | Promise<void>): void {
  toasts.add({ text, kind: 'good', action: { label: 'Undo', run: undo } })
}

/** Says that something failed; it stays until it is closed. */
export function failed(text: string, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error)
  const details = error instanceof Error && 'details' in error && typeof error.details === 'string' ? error.details : ''
  toasts.add({ text: `${text}: ${message}`, kind: 'bad', ...(details ? { details } : {}) })
}
