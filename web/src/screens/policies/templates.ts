// Policies to begin with.
import type { PolicyBody, PolicyTableBody } from '../../generated/admin.ts'
import { name, table as quoted } from './change.ts'

export interface Template {
  id: string
  title: string
  text: string
  /** Which column it is about, by the names such columns usually have. */
  column?: { label: string, usual: RegExp }
  make: (table: PolicyTableBody, column: string) => PolicyBody
}

const uid = '(select auth.uid())'

export const templates: readonly Template[] = [
  {
    id: 'owner', title: 'Rows of their owner', text: 'Each user reads and writes the rows whose column holds their id.',
    column: { label: 'Owner column', usual: /^(user_?id|owner(_id)?|author(_id)?|created_by|profile_id|account_id)$/i },
    make: (_, column) => ({ name: 'Users manage their own rows', command: 'all', permissive: true, roles: ['authenticated'], using: `${uid} = ${name(column)}`, check: `${uid} = ${name(column)}` }),
  },
  {
    id: 'read-all', title: 'Read for all', text: 'Everybody reads, with or without an account. Nobody writes by it.',
    make: () => ({ name: 'Everybody reads', command: 'select', permissive: true, roles: ['anon', 'authenticated'], using: 'true', check: null }),
  },
  {
    id: 'authenticated', title: 'Signed-in users read', text: 'Whoever has an account reads all rows.',
    make: () => ({ name: 'Signed-in users read', command: 'select', permissive: true, roles: ['authenticated'], using: 'true', check: null }),
  },
  {
    id: 'tenant', title: 'Tenant by a claim', text: 'Rows of the tenant that the token names in app_metadata, which users cannot write.',
    column: { label: 'Tenant column', usual: /^(tenant|org|organi[sz]ation|company|workspace|account)(_id)?$/i },
    make: (_, column) => {
      const same = `${name(column)}::text = (select auth.jwt() -> 'app_metadata' ->> ${`'${column.replaceAll("'", "''")}'`})`
      return { name: 'Users work within their tenant', command: 'all', permissive: true, roles: ['authenticated'], using: same, check: same }
    },
  },
  {
    id: 'membership', title: 'Members of a team', text: 'Rows of the teams that a table of members lists the user in. Put in that table and its columns.',
    column: { label: 'Team column', usual: /^(team|group|project|org|organi[sz]ation|room|workspace)(_id)?$/i },
    make: (table, column) => ({
      name: 'Members read the rows of their teams', command: 'select', permissive: true, roles: ['authenticated'],
      using: `exists (\n    select 1\n    from ${quoted(table.schema, 'members')} m\n    where m.${name(column)} = ${name(table.name)}.${name(column)}\n      and m.user_id = ${uid}\n  )`,
      check: null,
    }),
  },
  {
    id: 'service', title: 'Service only', text: 'A restrictive policy that keeps everybody from the API out, whatever other policies say. service_role passes by.',
    make: () => ({ name: 'Only the service', command: 'all', permissive: false, roles: ['anon', 'authenticated'], using: 'false', check: 'false' }),
  },
  {
    id: 'second-factor', title: 'With a second factor', text: 'A restrictive policy on top of others: only sessions that have passed a second factor.',
    make: () => ({ name: 'A second factor is needed', command: 'all', permissive: false, roles: ['authenticated'], using: `(select auth.jwt() ->> 'aal') = 'aal2'`, check: null }),
  },
]

/** The column that a template is most likely about. */
export function guess(template: Template, table: PolicyTableBody): string {
  const { column } = template
  if (!column) return ''
  return (table.columns.find(({ name }) => column.usual.test(name)) ?? table.columns.find(({ type }) => type === 'uuid') ?? table.columns[0])?.name ?? ''
}

export const empty: PolicyBody = { name: '', command: 'select', permissive: true, roles: ['authenticated'], using: '', check: null }
