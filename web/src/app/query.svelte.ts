// What was read from the server, by key: shown at once when it is wanted again, read anew when it is stale.
import { untrack } from 'svelte'
import { ApiError, aborted } from './api.ts'

/** Names what is read, from the general to the special: `['users', { page: 2 }]`. */
type Key = readonly [string, ...unknown[]]

export interface Wanted<T> {
  key: Key
  read: (signal: AbortSignal) => Promise<T>
  /** For how long an answer is fresh, in milliseconds; 10 s when not said. */
  fresh?: number
  /** Reads anew each so many milliseconds while the page is seen. */
  every?: number
}

/** For how long an answer is kept that nobody looks at, in milliseconds. */
const kept = 5 * 60_000
const freshFor = 10_000
/** How often a reading is tried again that got no answer or a 502, 503 or 504. */
const retries = 2

class Entry {
  data: unknown = $state.raw()
  error: ApiError | Error | undefined = $state.raw()
  fetching = $state(false)
  at = 0
  watchers = 0
  last: Wanted<unknown> | undefined
  #stop: AbortController | undefined
  #forget: ReturnType<typeof setTimeout> | undefined
  readonly key: Key
  readonly drop: () => void

  constructor(key: Key, drop: () => void) {
    this.key = key
    this.drop = drop
  }

  watch(): () => void {
    this.watchers++
    clearTimeout(this.#forget)
    return () => {
      if (--this.watchers > 0) return
      this.#stop?.abort()
      this.#stop = undefined // who comes next must not wait for what was ended
      this.fetching = false
      this.#forget = setTimeout(this.drop, kept)
    }
  }

  async refresh(wanted: Wanted<unknown>): Promise<void> {
    this.#stop?.abort()
    const stop = this.#stop = new AbortController()
    this.last = wanted
    this.fetching = true
    try {
      const data = await this.#try(wanted, stop.signal)
      if (stop.signal.aborted) return
      this.data = data
      this.error = undefined
      this.at = Date.now()
    } catch (error) {
      if (stop.signal.aborted || aborted(error)) return
      this.error = error instanceof Error ? error : new Error(String(error))
    } finally {
      if (this.#stop === stop) {
        this.#stop = undefined
        this.fetching = false
      }
    }
  }

  get busy(): boolean { return this.#stop !== undefined }

  async #try(wanted: Wanted<unknown>, signal: AbortSignal): Promise<unknown> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await wanted.read(signal)
      } catch (error) {
        const again = error instanceof ApiError && [0, 502, 503, 504].includes(error.status)
        if (!again || attempt === retries || signal.aborted) throw error
        await new Promise((resolve) => setTimeout(resolve, 300 * 3 ** attempt))
      }
    }
  }
}

const entries = new Map<string, Entry>()

function entry(key: Key): Entry {
  const name = JSON.stringify(key)
  let found = entries.get(name)
  if (!found) {
    found = new Entry(key, () => entries.delete(name))
    entries.set(name, found)
  }
  return found
}

interface Answer<T> {
  /** The last answer, also while a newer one is read. */
  readonly data: T | undefined
  /** Why the last reading failed. */
  readonly error: ApiError | Error | undefined
  /** Nothing to show yet. */
  readonly loading: boolean
  /** A request is under way. */
  readonly fetching: boolean
  /** When the data were read, in milliseconds since 1970. */
  readonly at: number
  refresh(): Promise<void>
}

/**
 * Reads something for as long as the component lives. The function is followed like an effect: when what it gives has
 * another key, that is read; with `undefined` nothing is.
 */
export function query<T>(want: () => Wanted<T> | undefined): Answer<T> {
  const wanted = $derived(want())
  const name = $derived(wanted && JSON.stringify(wanted.key))
  const current = $derived(name === undefined ? undefined : untrack(() => entry(wanted!.key)))

  $effect(() => {
    if (!current) return
    const leave = current.watch()
    untrack(() => {
      const stale = Date.now() - current.at > (wanted!.fresh ?? freshFor)
      if (stale && !current.busy) void current.refresh(wanted!)
      else current.last = wanted
    })
    return leave
  })
  $effect(() => {
    const every = wanted?.every
    if (!current || !every) return
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible' && !current.busy) void current.refresh(untrack(() => wanted!))
    }, every)
    return () => clearInterval(timer)
  })
  return {
    get data() { return current?.data as T | undefined },
    get error() { return current?.error },
    get loading() { return current !== undefined && current.data === undefined && current.error === undefined },
    get fetching() { return current?.fetching ?? false },
    get at() { return current?.at ?? 0 },
    refresh: async () => { if (current && wanted) await current.refresh(wanted) },
  }
}

/** Says that what begins with these parts of a key has changed: what is looked at is read anew, the rest is forgotten. */
export function invalidate(...start: unknown[]): void {
  for (const [name, found] of entries) {
    if (JSON.stringify(found.key.slice(0, start.length)) !== JSON.stringify(start)) continue
    found.at = 0
    if (found.watchers > 0 && found.last) void found.refresh(found.last)
    else entries.delete(name)
  }
}

/** Puts an answer into the cache: the outcome of a change that is known without reading it anew. */
export function remember(key: Key, data: unknown): void {
  const found = entry(key)
  found.data = data
  found.error = undefined
  found.at = Date.now()
}

/** What the cache holds under a key, without reading it. */
export function known<T>(key: Key): T | undefined {
  return entries.get(JSON.stringify(key))?.data as T | undefined
}

/** Forgets everything: another person signs in. */
export function forgetAll(): void {
  for (const found of entries.values()) {
    found.data = undefined
    found.at = 0
  }
}
