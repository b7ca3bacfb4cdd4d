// Views and materialized views.
import { comment, free, onTable, together, type Plan } from './plan.ts'
import { grantTable, type ApiRole } from './grants.ts'
import { qualified, type Name } from './quote.ts'

export interface ViewDraft {
  name: Name
  query: string
  materialized: boolean
  /** The rights and policies of who reads count, not those of the owner. */
  securityInvoker: boolean
  comment: string
  roles: readonly ApiRole[]
}

const bare = (query: string) => query.trim().replace(/;\s*$/, '')
const definer = 'The view reads its tables as its owner: row level security of the tables does not hold for who reads through it.'

export function createView(draft: ViewDraft): Plan {
  const name = qualified(draft.name)
  const kind = draft.materialized ? 'materialized view' : 'view'
  const unsafe = (draft.materialized || !draft.securityInvoker) && draft.roles.some((role) => role !== 'service_role')
  return together({
    statements: [
      free(`create ${kind} ${name}${!draft.materialized && draft.securityInvoker ? '\nwith (security_invoker = true)' : ''} as\n${bare(draft.query)}`, draft.materialized ? 'The query runs now, as long as it takes; its rows are kept until the next refresh.' : undefined),
      ...draft.comment ? [comment(kind, name, draft.comment)] : [],
    ],
    ...(unsafe ? { warnings: [draft.materialized ? 'Row level security does not hold for what a materialized view keeps: all who may read it see all of it.' : definer] } : {}),
  }, grantTable(draft.name, draft.roles))
}

/** Gives a view another query, keeping its columns; a materialized view is made anew. */
export function replaceView(was: ViewDraft, now: ViewDraft): Plan {
  const name = qualified(was.name)
  const statements = []
  if (bare(now.query) !== bare(was.query) || !now.materialized && now.securityInvoker !== was.securityInvoker) {
    if (now.materialized) {
      statements.push(onTable(`drop materialized view ${name}`, was.name), free(`create materialized view ${name} as\n${bare(now.query)}`, 'The query runs now, as long as it takes.'))
    } else {
      statements.push(onTable(`create or replace view ${name}\nwith (security_invoker = ${now.securityInvoker}) as\n${bare(now.query)}`, was.name, 'ACCESS EXCLUSIVE', 'none', 'Its columns must stay, in name, type and order; new ones may follow. Otherwise drop it and create it anew.'))
    }
  }
  const kind = now.materialized ? 'materialized view' : 'view'
  const remade = statements.length > 1
  if (now.comment !== was.comment || remade && now.comment) statements.push(comment(kind, name, now.comment))
  const warnings = [
    ...!now.materialized && !now.securityInvoker ? [definer] : [],
    ...remade ? ['Its indexes and grants go with the old one: make them anew.'] : [],
  ]
  return { statements, ...(warnings.length && statements.length ? { warnings } : {}) }
}

/** Runs the query of a materialized view again. */
export function refreshView(name: Name, concurrently: boolean): Plan {
  return {
    statements: [onTable(`refresh materialized view ${concurrently ? 'concurrently ' : ''}${qualified(name)}`, name, concurrently ? 'EXCLUSIVE' : 'ACCESS EXCLUSIVE', 'rewrite')],
    ...(concurrently ? {} : { safer: { label: 'Refresh it concurrently', why: 'Reads go on meanwhile. It needs a unique index over plain columns.', plan: refreshView(name, true) } }),
  }
}
