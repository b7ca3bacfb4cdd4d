// Sends what was composed to the dashboard's own mount of the REST API, as whom data are seen.
import { send } from '../../app/api.ts'
import type { ExploreBody } from '../../generated/admin.ts'
import type { Request } from './code/request.ts'
import { http, type HTTP } from './code/url.ts'

/** The most rows that a read asks for here. */
const mostRows = 1000

export interface Sent { status: number, text: string, range: string | null, type: string, milliseconds: number, bytes: number }

export function capped(request: Request, body: ExploreBody): number | undefined {
  if (request.verb !== 'select' && !(request.verb === 'rpc' && request.get)) return undefined
  const most = Math.min(body.max_rows || mostRows, mostRows)
  return request.limit === undefined || request.limit > most ? most : undefined
}

/** The request as it is sent from here: the schema is always named, and reads have an end. */
export function asSent(request: Request, body: ExploreBody): HTTP {
  const most = capped(request, body)
  const sent = http(request, body.schemas, true)
  // A function without a result that has rows takes no limit: its answer is one value.
  if (most !== undefined && request.verb === 'select') return http({ ...request, limit: most }, body.schemas, true)
  return sent
}

export async function run(request: Request, body: ExploreBody, seen: Record<string, string>, rollback: boolean, signal: AbortSignal): Promise<Sent> {
  const { method, path, headers, body: text } = asSent(request, body)
  if (rollback && method !== 'GET') headers.Prefer = [headers.Prefer, 'tx=rollback'].filter(Boolean).join(',')
  const begun = performance.now()
  const { 'Content-Type': type, ...others } = headers
  const answer = await send(method, `/rest${path}`, text === '' ? undefined : text, { headers: { ...others, ...seen }, signal, ...(type ? { type } : {}) })
  const answered = await answer.text()
  return { status: answer.status, text: answered, range: answer.headers.get('Content-Range'), type: answer.headers.get('Content-Type') ?? '', milliseconds: performance.now() - begun, bytes: new Blob([answered]).size }
}

/** Asks for PostgreSQL's plan in place of the answer. */
export async function plan(request: Request, body: ExploreBody, seen: Record<string, string>, measured: boolean, signal: AbortSignal): Promise<unknown> {
  const { method, path, headers, body: text } = asSent(request, body)
  const { 'Content-Type': type, ...others } = headers
  const options = measured ? 'analyze|buffers|verbose' : 'verbose'
  const answer = await send(method, `/rest${path}`, text === '' ? undefined : text, { headers: { ...others, ...seen, Accept: `application/vnd.pgrst.plan+json; for="${headers.Accept ?? 'application/json'}"; options=${options}` }, signal, ...(type ? { type } : {}) })
  return JSON.parse(await answer.text())
}

/** What is sent to have the SQL of a request. */
export function asStatement(request: Request, body: ExploreBody): { method: string, path: string, headers: Record<string, string>, body: string } {
  return http(request, body.schemas, true)
}
