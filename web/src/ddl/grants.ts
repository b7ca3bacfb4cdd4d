// What the roles of the API may do with new objects.
import { free, type Plan } from './plan.ts'
import { qualified, type Name } from './quote.ts'

export const apiRoles = ['anon', 'authenticated', 'service_role'] as const
export type ApiRole = (typeof apiRoles)[number]

/**
 * Lets roles read and write a table or view; which rows is for row level security to say. What no policy is asked about,
 * such as TRUNCATE, is taken from callers of the API, who have it by PostgreSQL's default privileges.
 */
export function grantTable(table: Name, roles: readonly ApiRole[]): Plan {
  const callers = roles.filter((role) => role !== 'service_role').join(', ')
  return {
    statements: [
      ...callers ? [
        free(`grant select, insert, update, delete on table ${qualified(table)} to ${callers}`),
        free(`revoke truncate, references, trigger on table ${qualified(table)} from ${callers}`),
      ] : [],
      ...roles.includes('service_role') ? [free(`grant all on table ${qualified(table)} to service_role`)] : [],
    ],
  }
}

/** Takes everything on a table or view from roles. */
export function revokeTable(table: Name, roles: readonly string[]): Plan {
  return { statements: roles.length ? [free(`revoke all on table ${qualified(table)} from ${roles.join(', ')}`)] : [] }
}
