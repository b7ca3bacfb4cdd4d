import type { MailServerBody } from '../../../generated/admin.ts'

export type Security = MailServerBody['security']

/** A mail server as it is typed. */
export interface MailServer {
  host: string
  port: string
  security: Security
  user: string
  password: string
}

/** The port by which each kind is spoken as a rule (RFC 6409, RFC 8314 §7.3, RFC 5321). */
export const usualPort: Readonly<Record<Security, string>> = { starttls: '587', tls: '465', none: '25' }

/** What the fields show at first: the server that counts, whose password is not told. */
export function typedOf(given: MailServerBody | null): MailServer {
  if (!given) return { host: '', port: usualPort.starttls, security: 'starttls', user: '', password: '' }
  const { host, port, security, user } = given
  return { host, port: String(port), security, user, password: '' }
}

/** The server that a URL names, such as documentation of mail services has; undefined for other texts. */
export function parse(text: string): MailServer | undefined {
  if (!/^smtps?:\/\//i.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const security = url.protocol === 'smtps:' ? 'tls' : url.searchParams.get('tls') === 'none' ? 'none' : 'starttls'
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: url.port || usualPort[security], security, user: decoded(url.username), password: decoded(url.password) }
}

/** What is typed, as the setting takes it; or which field is wrong, or that nothing is changed. */
export type Composed = { url: string } | { field: keyof MailServer, reason: string } | 'unchanged'

export function compose(typed: MailServer, given: MailServerBody | null): Composed {
  const { host, port, security, user, password } = typed
  const before = typedOf(given)
  if (host === before.host && port === before.port && security === before.security && user === before.user && password === '') return 'unchanged'
  if (host === '' && user === '' && password === '' && !given) return 'unchanged'
  if (host === '') return { field: 'host', reason: given ? 'To send no mails, remove the mail server' : 'The name of the mail server, such as smtp.example.com' }
  const address = /^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(host)
  if (!address && !/^[\p{L}\p{N}._-]+$/u.test(host)) return { field: 'host', reason: 'Only the name, such as smtp.example.com' }
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65535) return { field: 'port', reason: 'A number from 1 to 65535' }
  if (security === 'none' && (user !== '' || password !== '')) return { field: 'user', reason: 'Nobody is named without encryption: a password could be read on its way' }
  if (user === '' && password !== '') return { field: 'user', reason: 'Whose password is it?' }
  // Without a name the stored user is its own password, and not told either.
  if (given?.password && password === '' && (user !== '' || given.user === '') && security !== 'none') {
    return { field: 'password', reason: 'Enter it again: the stored one is not sent to another server' }
  }
  const credentials = user === '' ? '' : encoded(user) + (password === '' ? '' : ':' + encoded(password)) + '@'
  return { url: `${security === 'tls' ? 'smtps' : 'smtp'}://${credentials}${address ? `[${host}]` : host}:${port}${security === 'none' ? '?tls=none' : ''}` }
}

function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (character) => '%' + character.charCodeAt(0).toString(16).toUpperCase())
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
