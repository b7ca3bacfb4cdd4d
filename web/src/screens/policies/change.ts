// Changes of policies as SQL, and their running.
import { api } from '../../app/api.ts'
import { invalidate } from '../../app/query.svelte.ts'
import type { DDLBody, DDLDoneBody, PolicyBody, PolicyCheckedBody } from '../../generated/admin.ts'

/** A change that is shown before it is made. */
export interface Change {
  title: string
  statements: readonly string[]
  /** For the audit log, and as the name of a migration. */
  summary: string
  concurrently?: boolean
  danger?: boolean
  /** What it means, a sentence each. */
  notes?: readonly string[]
}

/** Quotes a name. */
export function name(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}

export function table(schema: string, relation: string): string {
  return `${name(schema)}.${name(relation)}`
}

/** Quotes roles; `public` stands for all of them and is no name. */
function roles(list: readonly string[]): string {
  return list.length === 0 ? 'public' : list.map((role) => role === 'public' ? role : name(role)).join(', ')
}

/** The clauses that a policy of a command has. */
export function clauses(command: string): { using: boolean, check: boolean } {
  return { using: command !== 'insert', check: command === 'insert' || command === 'update' || command === 'all' }
}

/** The statement that makes a policy. */
export function createPolicy(on: string, policy: PolicyBody): string {
  const { using, check } = clauses(policy.command)
  return [
    `create policy ${name(policy.name)} on ${on}`,
    policy.permissive ? '' : 'as restrictive',
    `for ${policy.command}`,
    `to ${roles(policy.roles)}`,
    using && policy.using?.trim() ? `using (\n  ${policy.using.trim()}\n)` : '',
    check && policy.check?.trim() ? `with check (\n  ${policy.check.trim()}\n)` : '',
  ].filter(Boolean).join('\n')
}

export function dropPolicy(on: string, policy: string): string {
  return `drop policy ${name(policy)} on ${on}`
}

/** The statements that turn one policy into another: ALTER POLICY where it can, else it is made anew in one transaction. */
export function alterPolicy(on: string, before: PolicyBody, after: PolicyBody): string[] {
  const gone = (was: string | null, is: string | null) => was !== null && !is?.trim()
  if (before.command !== after.command || before.permissive !== after.permissive || gone(before.using, after.using) || gone(before.check, after.check)) {
    return [dropPolicy(on, before.name), createPolicy(on, after)]
  }
  const statements: string[] = []
  const parts: string[] = []
  if (before.roles.join() !== after.roles.join()) parts.push(`to ${roles(after.roles)}`)
  const { using, check } = clauses(after.command)
  if (using && after.using?.trim() && before.using !== after.using) parts.push(`using (\n  ${after.using.trim()}\n)`)
  if (check && after.check?.trim() && before.check !== after.check) parts.push(`with check (\n  ${after.check.trim()}\n)`)
  if (before.name !== after.name) statements.push(`alter policy ${name(before.name)} on ${on} rename to ${name(after.name)}`)
  if (parts.length > 0) statements.push([`alter policy ${name(after.name)} on ${on}`, ...parts].join('\n'))
  return statements
}

/** Makes a change; the file of the migration that it was saved as, "" for none. */
export async function run(change: Change, migration: string): Promise<string> {
  const body: DDLBody = {
    statements: [...change.statements], summary: change.summary,
    ...(migration ? { migration } : {}), ...(change.concurrently ? { concurrently: true } : {}),
  }
  try {
    return (await api.post<DDLDoneBody>('/ddl', body)).migration
  } finally {
    invalidate('policies')
    invalidate('catalog')
  }
}

/** Has PostgreSQL look at statements without keeping what they do. */
export async function check(statements: readonly string[]): Promise<void> {
  await api.post<PolicyCheckedBody>('/policies/check', { statements: [...statements] })
}
