// The request itself, for a shell.
import { word } from '../../../kit/shell.ts'
import { http } from './url.ts'
import type { Request, Server } from './place.ts'

export function command(method: string, url: string, headers: Record<string, string>, body: string): string {
  const lines = [`curl ${method === 'GET' ? '' : method === 'POST' && body ? '' : `-X ${method} `}${word(url)}`]
  for (const [name, value] of Object.entries(headers)) lines.push(`-H ${word(`${name}: ${value}`)}`)
  if (body) lines.push(`-d ${word(body)}`)
  return lines.join(' \\\n  ') + '\n'
}

export function curl(request: Request, server: Server): string {
  const { method, path, headers, body } = http(request, server.schemas)
  return command(method, `${server.url}/rest/v1${path}`, { apikey: server.key, Authorization: `Bearer ${server.key}`, ...headers }, body)
}
