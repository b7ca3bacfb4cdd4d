// Speaks with /admin/api: JSON in and out, errors as one type, streams line by line.

const base = '/admin/api'

/** What the server or PostgreSQL says went wrong; `status` 0 is a request that got no answer. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  /** An SQLSTATE, a code of the API such as `conflict`, or `network`. */
  readonly code: string
  readonly details: string
  readonly hint: string
  /** Where in the SQL, in characters from 1. */
  readonly position: number | undefined
  readonly schema: string | undefined
  readonly table: string | undefined
  readonly column: string | undefined
  readonly constraint: string | undefined
  /** By which the request is found in the log. */
  readonly requestId: string | undefined
  /** Whether the change that was asked for has been made is not known: look before it is tried again. */
  readonly unsure: boolean
  /** The whole body, for codes that carry more. */
  readonly body: Readonly<Record<string, unknown>>

  constructor(status: number, body: Record<string, unknown>, requestId?: string | null, unsure = false) {
    const text = (key: string) => typeof body[key] === 'string' && body[key] !== '' ? body[key] : undefined
    super(text('message') ?? `The server answered ${status}.`)
    this.status = status
    this.code = text('code') ?? String(status)
    this.details = text('details') ?? ''
    this.hint = text('hint') ?? ''
    this.position = typeof body.position === 'number' ? body.position : undefined
    this.schema = text('schema')
    this.table = text('table')
    this.column = text('column')
    this.constraint = text('constraint')
    this.requestId = requestId ?? undefined
    this.unsure = unsure
    this.body = body
  }
}

/** What is wrong when an error has this code, for the field that it is about. */
export function messageOf(error: unknown, code: string): string | undefined {
  return error instanceof ApiError && error.code === code ? error.message : undefined
}

/** Tells whether an error is only the end of a request that nobody waits for any more. */
export function aborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

type Query = Record<string, string | number | boolean | readonly string[] | null | undefined>

interface Options {
  query?: Query
  signal?: AbortSignal
  headers?: Record<string, string>
  /** Set for requests that ask who is signed in: their 401 is an answer, not the end of a session. */
  quiet?: boolean
}

interface BodyOptions extends Options {
  /** The media type of a body that is not JSON, such as a file to import. */
  type?: string
}

/** Asks the person to prove once more who they are; tells whether they did. The shell sets it. */
let prove: () => Promise<boolean> = () => Promise.resolve(false)
export function onElevationNeeded(ask: () => Promise<boolean>): void { prove = ask }

const listeners = new Set<(asked: number) => void>()

/** Calls back when an answer says that the session has ended, with the time (performance.now) of its request. */
export function onSessionEnd(listener: (asked: number) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The address of a resource, for links to downloads. */
export function address(path: string, query: Query = {}): string {
  const values = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) {
    if (value === null || value === undefined) continue
    for (const each of Array.isArray(value) ? value : [value]) values.append(key, String(each))
  }
  const text = values.toString()
  return base + path + (text && (path.includes('?') ? '&' : '?') + text)
}

/** Sends a request and gives the answer as it is; throws ApiError when it is none of 2xx. */
export async function send(method: string, path: string, body?: unknown, options: BodyOptions = {}): Promise<Response> {
  const headers = new Headers(options.headers)
  headers.set('X-Basalt-Dashboard', '1')
  let payload: BodyInit | undefined
  if (options.type !== undefined) {
    headers.set('Content-Type', options.type)
    payload = body as BodyInit
  } else if (body !== undefined) {
    headers.set('Content-Type', 'application/json')
    payload = JSON.stringify(body)
  }
  if (!headers.has('Accept')) headers.set('Accept', 'application/json')
  const asked = performance.now()
  let answer: Response
  try {
    answer = await fetch(address(path, options.query), { method, headers, body: payload, signal: options.signal, redirect: 'error', credentials: 'same-origin' })
  } catch (error) {
    if (aborted(error)) throw error
    const unsure = changes(method)
    const hint = 'Check that it runs and that the network is there, then ' + (unsure ? `look before you try again: ${notKnown}` : 'try again.')
    throw new ApiError(0, { code: 'network', message: 'The server does not answer.', details: String(error), hint }, null, unsure)
  }
  if (answer.ok) return answer
  const failed = await failure(answer, changes(method))
  if (failed.code === 'elevation_needed' && !options.quiet) {
    if (await prove()) return send(method, path, body, { ...options, quiet: true })
    throw new DOMException('The person did not go on.', 'AbortError')
  }
  if (failed.code === 'signed_out' && !options.quiet) for (const listener of listeners) listener(asked)
  throw failed
}

/** Tells whether a method changes something. */
const changes = (method: string) => method !== 'GET' && method !== 'HEAD'

const notKnown = 'whether it was carried out is not known.'

/** An answer that was cut behind its head. */
function cut(answer: Response, method: string, error: unknown): ApiError {
  const unsure = changes(method)
  const hint = unsure ? `Look before you try again: ${notKnown}` : ''
  return new ApiError(0, { code: 'network', message: 'The connection was cut before the answer was complete.', details: String(error), hint }, answer.headers.get('X-Request-Id'), unsure)
}

async function failure(answer: Response, change: boolean): Promise<ApiError> {
  const id = answer.headers.get('X-Request-Id')
  const text = await answer.text().catch(() => '')
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body === 'object' && body !== null) return new ApiError(answer.status, body as Record<string, unknown>, id)
  } catch {
    // a proxy's page, or nothing
  }
  // A proxy may have given up on what goes on behind it.
  const unsure = change && answer.status >= 500
  const hint = unsure ? `It is no answer of Basalt's: ${notKnown} Look before you try again.` : ''
  return new ApiError(answer.status, { message: `The server answered ${answer.status} ${answer.statusText}`.trim() + '.', details: text.startsWith('<') ? '' : text.slice(0, 500), hint }, id, unsure)
}

async function json<T>(method: string, path: string, body?: unknown, options?: BodyOptions): Promise<T> {
  const answer = await send(method, path, body, options)
  try {
    const text = await answer.text()
    return (text === '' ? undefined : JSON.parse(text)) as T
  } catch (error) {
    if (aborted(error)) throw error
    throw cut(answer, method, error)
  }
}

export const api = {
  get: <T>(path: string, options?: Options) => json<T>('GET', path, undefined, options),
  post: <T = void>(path: string, body?: unknown, options?: BodyOptions) => json<T>('POST', path, body ?? (options?.type ? '' : {}), options),
  put: <T = void>(path: string, body: unknown, options?: BodyOptions) => json<T>('PUT', path, body, options),
  patch: <T = void>(path: string, body: unknown, options?: BodyOptions) => json<T>('PATCH', path, body, options),
  delete: <T = void>(path: string, body?: unknown, options?: BodyOptions) => json<T>('DELETE', path, body, options),

  /**
   * Reads an answer of one JSON value a line as the lines arrive. Ending the loop ends the request. A stream that is cut
   * throws ApiError with the code `network`, as it throws where the server ends it with `{"error":…}` only if the caller
   * does so.
   */
  async *lines<T>(method: 'GET' | 'POST', path: string, body?: unknown, options: BodyOptions = {}): AsyncGenerator<T, void, void> {
    const stop = new AbortController()
    const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal
    const answer = await send(method, path, body, { ...options, signal, headers: { Accept: 'application/x-ndjson', ...options.headers } })
    try {
      let rest = ''
      const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
      for (;;) {
        const { done, value } = await reader.read()
        const lines = (value ?? '').split('\n')
        lines[0] = rest + lines[0]! // only what is new is looked through: a line may be megabytes
        rest = lines.pop()!
        for (const line of lines) if (line !== '') yield JSON.parse(line) as T
        if (done) break
      }
      if (rest !== '') yield JSON.parse(rest) as T
    } catch (error) {
      if (options.signal?.aborted || aborted(error)) throw new DOMException('The request was ended.', 'AbortError')
      if (error instanceof ApiError) throw error
      throw cut(answer, method, error)
    } finally {
      stop.abort()
    }
  },
}
