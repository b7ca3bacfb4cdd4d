// What every language's code needs to know: where the API is and with what it is used.
import { argumentsText, http, json } from './url.ts'
import type { Request } from './request.ts'

export interface Server {
  /** The address of the server, without /rest/v1. */
  url: string
  /** What stands for the key in code: the anon key, or a placeholder for one that is secret. */
  key: string
  /** The exposed schemas, the default first. */
  schemas: readonly string[]
}

export const languages = ['javascript', 'curl', 'dart', 'python', 'swift', 'kotlin'] as const
export type CodeLanguage = (typeof languages)[number]
export const languageNames: Record<CodeLanguage, string> = { javascript: 'JavaScript', curl: 'curl', dart: 'Dart', python: 'Python', swift: 'Swift', kotlin: 'Kotlin' }

/** In place of the service key, which is never shown in code. */
export const serviceKeyPlaceholder = '<your service key: on servers only>'

/** A name as a text of JavaScript, Dart (with $ escaped), Swift and so on: they share JSON's escapes. */
export function quoted(text: string, more: RegExp = /(?!)/g): string {
  return JSON.stringify(text).replace(more, '\\$&')
}

/** JSON text in as many lines as it deserves; digits stay as they were typed. */
export function laidOut(text: string, indent = ''): string {
  const trimmed = text.trim()
  if (json(trimmed) === undefined) return trimmed === '' ? '{}' : trimmed
  if (trimmed.length < 60) return trimmed.replaceAll('\n', `\n${indent}`)
  return spread(trimmed).replaceAll('\n', `\n${indent}`)
}

/** Lays out JSON without reading its numbers. */
export function spread(text: string): string {
  let depth = 0
  let out = ''
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs)) {
    if (token === '{' || token === '[') out += token + `\n${'  '.repeat(++depth)}`
    else if (token === '}' || token === ']') out = out.trimEnd().endsWith(token === '}' ? '{' : '[') ? out.trimEnd() + (depth--, token) : out + `\n${'  '.repeat(--depth)}` + token
    else if (token === ',') out += `,\n${'  '.repeat(depth)}`
    else if (token === ':') out += ': '
    else out += token
  }
  return out
}

export { argumentsText, http }
export type { Request }
