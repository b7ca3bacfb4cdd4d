// Creates, alters and drops tables.
import { columnClause, type ColumnDraft } from './column.ts'
import { checkClause, foreignKeyClause, keyClause, type CheckDraft, type ForeignKeyDraft } from './constraint.ts'
import { grantTable, revokeTable, apiRoles, type ApiRole } from './grants.ts'
import { comment, free, nothing, onTable, together, type Plan, type Statement } from './plan.ts'
import { ident, qualified, type Name } from './quote.ts'

export interface TableDraft {
  name: Name
  comment: string
  columns: readonly ColumnDraft[]
  primaryKey: readonly string[]
  uniques: readonly (readonly string[])[]
  foreignKeys: readonly ForeignKeyDraft[]
  checks: readonly CheckDraft[]
  rls: boolean
  /** Who may reach it through the API. */
  roles: readonly ApiRole[]
}

export function createTable(draft: TableDraft): Plan {
  const table = draft.name
  const lines = [
    ...draft.columns.map(columnClause),
    ...draft.primaryKey.length ? [keyClause({ kind: 'primary key', name: '', columns: draft.primaryKey })] : [],
    ...draft.uniques.map((columns) => keyClause({ kind: 'unique', name: '', columns })),
    ...draft.checks.map(checkClause),
    ...draft.foreignKeys.map(foreignKeyClause),
  ]
  const others = new Map(draft.foreignKeys.filter((key) => qualified(key.target) !== qualified(table)).map((key) => [qualified(key.target), key.target]))
  const create: Statement = {
    sql: `create table ${qualified(table)} (${lines.length ? `\n  ${lines.join(',\n  ')}\n` : ''})`,
    locks: [...others.values()].map((other) => ({ table: other, mode: 'SHARE ROW EXCLUSIVE' })),
    work: 'none',
    ...(others.size ? { note: 'The tables that it refers to are locked for a moment.' } : {}),
  }
  const withheld = apiRoles.filter((role) => !draft.roles.includes(role))
  return together({
    statements: [
      create,
      ...draft.rls ? [free(`alter table ${qualified(table)}\nenable row level security`)] : [],
      ...draft.comment ? [comment('table', qualified(table), draft.comment)] : [],
      ...draft.columns.filter((column) => column.comment).map((column) => comment('column', `${qualified(table)}.${ident(column.name)}`, column.comment)),
    ],
    ...(draft.rls || !draft.roles.some((role) => role !== 'service_role') ? {} : { warnings: ['Without row level security whoever has the anon key reads and writes all rows.'] }),
  }, grantTable(table, draft.roles), revokeTable(table, withheld))
}

interface TableFacts { name: Name, comment: string, rls: boolean }

/** Renames a table, moves it to another schema, comments it, turns row level security on or off. */
export function alterTable(was: TableFacts, now: TableFacts): Plan {
  const plans: Plan[] = []
  let at = was.name
  if (now.rls !== was.rls) {
    plans.push({
      statements: [onTable(`alter table ${qualified(at)}\n${now.rls ? 'enable' : 'disable'} row level security`, at)],
      warnings: [now.rls ? 'From then on only rows that a policy lets through are seen. Without a policy apps see none.' : 'From then on whoever was granted the table reads and writes all of its rows. Policies stay, and are not asked.'],
    })
  }
  if (now.comment !== was.comment) plans.push({ statements: [comment('table', qualified(at), now.comment, at)] })
  if (now.name.schema !== was.name.schema) {
    plans.push({
      statements: [onTable(`alter table ${qualified(at)}\nset schema ${ident(now.name.schema)}`, at)],
      warnings: [`The API offers a table under its schema: apps that use ${was.name.schema}.${was.name.name} fail from then on.`],
    })
    at = { ...at, schema: now.name.schema }
  }
  if (now.name.name !== was.name.name) {
    plans.push({
      statements: [onTable(`alter table ${qualified(at)}\nrename to ${ident(now.name.name)}`, at)],
      warnings: [`Apps that use /rest/v1/${was.name.name} fail from the moment of the change. A view of the old name over the table can bridge the time until they are changed. The bodies of functions do not follow.`],
    })
  }
  return plans.length ? together(...plans) : nothing
}

/** Drops a table with its rows; `related` are tables with which it shares foreign keys. */
export function dropTable(table: Name, kind: 'table' | 'view' | 'materialized view' | 'foreign table', cascade: boolean, related: readonly Name[] = []): Plan {
  return {
    statements: [{
      sql: `drop ${kind} ${qualified(table)}${cascade ? ' cascade' : ''}`,
      locks: [table, ...related].map((of) => ({ table: of, mode: 'ACCESS EXCLUSIVE' })),
      work: 'none',
    }],
    warnings: [kind === 'view' ? 'Apps that read it through the API fail from then on.' : 'The rows cannot be brought back. Apps that use it through the API fail from then on.'],
  }
}

export function createSchema(name: string, about: string, roles: readonly string[]): Plan {
  const schema = ident(name)
  return {
    statements: [
      free(`create schema ${schema}`),
      ...about ? [comment('schema', schema, about)] : [],
      ...roles.length ? [free(`grant usage on schema ${schema} to ${roles.join(', ')}`, 'Without it they reach nothing within.')] : [],
    ],
    warnings: ['The API offers a schema only when it is among the exposed schemas of the settings.'],
  }
}
