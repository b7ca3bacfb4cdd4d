// What row level security of a table means, in words.
import type { PolicyTableBody } from '../../generated/admin.ts'
import type { Change } from './change.ts'
import { table as quoted } from './change.ts'

interface State { tone: 'good' | 'warn' | 'bad' | 'plain', short: string, words: string }

/** The roles of the API that a grant lets read, those that row level security is for. */
function readers(table: PolicyTableBody): string[] {
  return table.grants.filter((grant) => grant.role !== 'service_role' && grant.privileges.includes('select')).map((grant) => grant.role)
}

export function stateOf(table: PolicyTableBody): State {
  const n = table.policies.length
  const count = n === 1 ? '1 policy' : `${n} policies`
  const who = table.grants.filter((grant) => grant.role !== 'service_role').map((grant) => grant.role)
  if (!table.rls) {
    if (n > 0) return { tone: 'bad', short: 'Off', words: `its ${count} ${n === 1 ? 'is' : 'are'} not in force` }
    if (who.length === 0) return { tone: 'plain', short: 'Off', words: 'no role of the API has a grant' }
    const may = readers(table).length > 0 ? 'reads everything' : 'writes everything'
    return { tone: table.exposed ? 'bad' : 'warn', short: 'Off', words: `everybody with a grant ${may}` }
  }
  const forced = table.rls_forced ? ', forced on its owner too' : ''
  if (n === 0) return { tone: 'warn', short: 'On', words: `no policy: nobody reads${forced}` }
  if (!table.policies.some((policy) => policy.permissive)) return { tone: 'warn', short: 'On', words: `${count}, none permissive: nobody reads${forced}` }
  return { tone: 'good', short: 'On', words: `${count}${forced}` }
}

/** Turns row level security on or off. */
export function switching(table: PolicyTableBody, on: boolean): Change {
  const who = `${table.schema}.${table.name}`
  return {
    title: on ? `Turn row level security on for ${table.name}` : `Turn row level security off for ${table.name}`,
    statements: [`alter table ${quoted(table.schema, table.name)} ${on ? 'enable' : 'disable'} row level security`],
    summary: `${on ? 'enable' : 'disable'} row level security on ${who}`,
    danger: !on,
    notes: on
      ? [table.policies.length === 0 ? 'There is no policy yet: nobody but the owner and service_role reads or writes until you add one.' : `Its policies come into force at once.`]
      : [`From then on grants alone decide: ${readers(table).join(' and ') || 'nobody of the API'} ${readers(table).length === 1 ? 'reads' : 'read'} every row.`],
  }
}

/** Makes row level security hold for the table's owner as well, or no longer. */
export function forcing(table: PolicyTableBody, on: boolean): Change {
  return {
    title: on ? `Force row level security on the owner of ${table.name}` : `Let the owner of ${table.name} pass again`,
    statements: [`alter table ${quoted(table.schema, table.name)} ${on ? 'force' : 'no force'} row level security`],
    summary: `${on ? 'force' : 'do not force'} row level security on ${table.schema}.${table.name}`,
    notes: [on ? `Policies then hold for ${table.owner} too, unless that role is a superuser or has bypassrls.` : `${table.owner} then reads and writes every row.`],
  }
}

/** What a grant lets do, in few words. */
export function granted(privileges: readonly string[]): string {
  if (privileges.length === 4) return 'read and write'
  return privileges.map((one) => one === 'select' ? 'read' : one).join(', ')
}

export const commands: Record<string, string> = { all: 'read and write', select: 'read', insert: 'add', update: 'change', delete: 'delete' }
