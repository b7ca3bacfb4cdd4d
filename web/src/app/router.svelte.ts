// Where the dashboard is: the path and the query of the address, under /admin. The state of a screen lives there, so
// that a reload, a bookmark and "open in a new tab" keep it.
import { ask } from '../kit/confirm.svelte.ts'

const base = '/admin'

type Names<P extends string> = P extends `${infer Part}/${infer Rest}` ? Names<Part> | Names<Rest> : P extends `:${infer Name}` ? Name : never

/** The parameters of a pattern such as `/tables/:schema/:table`. */
export type Params<P extends string> = { [N in Names<P>]: string }

/** What is put into the query of an address; null and undefined remove the key. */
export type QueryValues = Record<string, string | number | boolean | readonly string[] | null | undefined>

function encode(segment: string): string {
  // "." and ".." would be resolved away by the browser, even when they are percent-encoded.
  if (segment === '.' || segment === '..') return segment.replaceAll('.', '~.')
  return encodeURIComponent(segment.startsWith('~') ? '~' + segment : segment)
}

function decode(segment: string): string | undefined {
  try {
    const text = decodeURIComponent(segment)
    if (text === '~.' || text === '~.~.') return text.replaceAll('~.', '.')
    return text.startsWith('~~') ? text.slice(1) : text
  } catch {
    return undefined // a percent sign that begins nothing
  }
}

/** The address of a screen, for links: `href('/tables/:schema/:table', { schema, table }, { order: 'id' })`. */
export function href<P extends string>(pattern: P, ...rest: [Names<P>] extends [never] ? [params?: null, query?: QueryValues] : [params: Params<P>, query?: QueryValues]): string {
  const [params, query] = rest
  const path = pattern.replace(/:(\w+)/g, (_, name: string) => encode((params as Record<string, string>)[name]!))
  return base + path + search(new URLSearchParams(), query ?? {})
}

function search(given: URLSearchParams, values: QueryValues): string {
  const next = new URLSearchParams(given)
  for (const [key, value] of Object.entries(values)) {
    next.delete(key)
    if (value === null || value === undefined || value === false || value === '') continue
    for (const each of Array.isArray(value) ? value : [value]) next.append(key, String(each))
  }
  const text = next.toString()
  return text && '?' + text
}

/** Matches a path with a pattern; undefined when they differ. */
export function match(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/')
  const given = path.split('/')
  if (wanted.length !== given.length) return undefined
  const params: Record<string, string> = {}
  for (const [i, part] of wanted.entries()) {
    const text = decode(given[i]!)
    if (text === undefined) return undefined
    if (part.startsWith(':')) {
      if (text === '') return undefined
      params[part.slice(1)] = text
    } else if (part !== text) return undefined
  }
  return params
}

/** Says why the screen must not be left yet, or undefined. */
type Guard = () => string | undefined

class Router {
  #path = $state('/')
  #query = $state.raw(new URLSearchParams())
  #hash = $state('')
  /** Counts what a person would call going somewhere: not changes of the query. */
  visits = $state(0)
  #guards = new Set<Guard>()
  #position = 0
  #returning = false

  constructor() {
    const state = history.state as { position?: number } | null
    this.#position = state?.position ?? 0
    if (state?.position === undefined) history.replaceState({ position: 0 }, '')
    this.#read()
    addEventListener('popstate', (event) => void this.#popped(event))
    addEventListener('beforeunload', (event) => { if (this.#reason()) event.preventDefault() })
    document.addEventListener('click', (event) => this.#clicked(event))
  }

  /** The path without /admin and without a slash at its end; `/` for the first screen. */
  get path(): string { return this.#path }
  /** The query of the address. Change it with `setQuery`. */
  get query(): URLSearchParams { return this.#query }
  /** What follows the # of the address. */
  get hash(): string { return this.#hash }

  /** Goes to an address that `href` made. False when the person chose to stay. */
  async go(address: string, options: { replace?: boolean } = {}): Promise<boolean> {
    const url = new URL(address, location.href)
    if (url.pathname !== location.pathname && !await this.mayLeave()) return false
    this.#write(url, options.replace ?? url.href === location.href)
    return true
  }

  /** Changes keys of the query and keeps the others. `replace` is for what "back" should skip, such as typing. */
  setQuery(values: QueryValues, options: { replace?: boolean } = {}): void {
    const text = search(this.#query, values)
    if (text === location.search) return
    this.#write(new URL(location.pathname + text + location.hash, location.href), options.replace ?? false)
  }

  /** Removes what follows the #, such as a token, from the address and from the history. */
  dropHash(): void {
    if (location.hash) this.#write(new URL(location.pathname + location.search, location.href), true)
  }

  /** Asks before the screen is left while the guard gives a reason. Gives the function that ends this. */
  guard(guard: Guard): () => void {
    this.#guards.add(guard)
    return () => this.#guards.delete(guard)
  }

  #write(url: URL, replace: boolean): void {
    if (replace) history.replaceState({ position: this.#position }, '', url)
    else history.pushState({ position: ++this.#position }, '', url)
    this.#read()
  }

  #read(): void {
    const path = location.pathname.slice(base.length).replace(/\/+$/, '') || '/'
    if (path !== this.#path) this.visits++
    this.#path = path
    this.#query = new URLSearchParams(location.search)
    this.#hash = location.hash.slice(1)
  }

  #reason(): string | undefined {
    for (const guard of this.#guards) {
      const reason = guard()
      if (reason) return reason
    }
    return undefined
  }

  /** Asks about what is not saved, if anything is. */
  async mayLeave(): Promise<boolean> {
    const reason = this.#reason()
    return !reason || await ask({ title: 'Leave without saving?', text: reason, action: 'Leave', danger: true })
  }

  async #popped(event: PopStateEvent): Promise<void> {
    const position = (event.state as { position?: number } | null)?.position ?? 0
    if (this.#returning) {
      this.#returning = false
      return
    }
    const moved = position - this.#position
    const path = location.pathname.slice(base.length).replace(/\/+$/, '') || '/'
    if (path !== this.#path && moved !== 0 && this.#reason()) {
      // The browser has moved already: go back first, ask, and repeat the move if the answer is yes.
      this.#returning = true
      history.go(-moved)
      if (!await this.mayLeave()) return
      this.#guards.clear()
      history.go(moved)
      return
    }
    this.#position = position
    this.#read()
  }

  #clicked(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = (event.target as Element | null)?.closest?.('a[href]')
    if (!(link instanceof HTMLAnchorElement) || link.target || link.hasAttribute('download')) return
    const url = new URL(link.href)
    if (url.origin !== location.origin || !(url.pathname + '/').startsWith(base + '/') || url.pathname.startsWith(base + '/api/')) return
    if (url.pathname === location.pathname && url.search === location.search && url.hash) return // a place on this page
    event.preventDefault()
    void this.go(url.href)
  }
}

export const router = new Router()
