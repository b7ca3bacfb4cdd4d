// What the roles of the API may do with new objects.
import { free, type Plan } from './plan.ts'
import { qualified, type Name } from './quote.ts'

export const apiRoles = ['anon', 'authenticated', 'service_role'] as const
export type ApiRole = (typeof apiRoles)[number]

/** Grants everything on a table or view to roles; which rows they see is for row level security to say. */
export function grantTable(table: Name, roles: readonly string[]): Plan {
  return { statements: roles.length ? [free(`grant all on table ${qualified(table)} to ${roles.join(', ')}`)] : [] }
}

/** Takes everything on a table or view from roles. */
export function revokeTable(table: Name, roles: readonly string[]): Plan {
  return { statements: roles.length ? [free(`revoke all on table ${qualified(table)} from ${roles.join(', ')}`)] : [] }
}
