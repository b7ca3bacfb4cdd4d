// Follows the log: what comes is shown at once, or waits while the tail is paused.
import { aborted, api } from '../../app/api.ts'
import type { RequestEntry, TailLine } from '../../generated/admin.ts'

/** How many are kept at most; then the oldest go. */
const most = 500

export class Tail {
  shown = $state.raw<readonly RequestEntry[]>([])
  paused = $state(false)
  waiting = $state(0)
  dropped = $state(0)
  error = $state.raw<unknown>()
  #held: RequestEntry[] = []
  #filter: Record<string, string> = {}
  #stop: AbortController | undefined

  /** Begins to follow what a filter matches. Gives what ends it. */
  follow(filter: Record<string, string>): () => void {
    this.#filter = filter
    this.shown = []
    this.#held = []
    this.waiting = this.dropped = 0
    this.paused = false
    this.again()
    return () => this.#stop?.abort()
  }

  again(): void {
    this.#stop?.abort()
    const stop = this.#stop = new AbortController()
    this.error = undefined
    void this.#read(stop.signal)
  }

  pause(paused: boolean): void {
    this.paused = paused
    if (!paused) this.#show([])
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { until: _, ...query } = this.#filter // what comes is later
    try {
      for await (const line of api.lines<TailLine>('GET', '/logs/live', undefined, { signal, query })) {
        if (line.ended) throw new Error(line.ended)
        this.dropped += line.dropped ?? 0
        if (line.requests) this.#show(line.requests)
      }
      if (!signal.aborted) throw new Error('The server has ended the stream.')
    } catch (error) {
      if (!aborted(error) && !signal.aborted) this.error = error
    }
  }

  #show(entries: readonly RequestEntry[]): void {
    this.#held.push(...entries)
    if (this.#held.length > most) {
      this.dropped += this.#held.length - most
      this.#held = this.#held.slice(-most)
    }
    this.waiting = this.#held.length
    if (this.paused) return
    this.shown = [...this.#held.reverse(), ...this.shown].slice(0, most)
    this.#held = []
    this.waiting = 0
  }
}
