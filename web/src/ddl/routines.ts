// Functions and triggers.
import { comment, free, onTable, type Plan } from './plan.ts'
import { apiRoles, type ApiRole } from './grants.ts'
import { dollars, ident, idents, qualified, type Name } from './quote.ts'

export interface FunctionDraft {
  name: Name
  /** As SQL spells them: `a integer, b text default ''`. */
  arguments: string
  returns: string
  language: string
  volatility: 'volatile' | 'stable' | 'immutable'
  securityDefiner: boolean
  body: string
  comment: string
  /** Who may call it through the API. */
  roles: readonly ApiRole[]
}

/** The types of arguments, by which PostgreSQL tells functions of one name apart. */
export function argumentTypes(list: string): string {
  let depth = 0
  let quoted = '' // the quote that is open
  let text = ''
  const parts: string[] = []
  for (const char of list + ',') {
    if (quoted || char === "'" || char === '"') {
      quoted = quoted === '' ? char : quoted === char ? '' : quoted
      text += char
      continue
    }
    if (char === '(' || char === '[') depth++
    if (char === ')' || char === ']') depth--
    if (char === ',' && depth === 0) {
      if (text.trim()) parts.push(text.trim())
      text = ''
    } else text += char
  }
  return parts.map((part) => part.replace(/\s+(default|=)\s[^]*$/i, '').replace(/\s*=[^]*$/, '')).filter((part) => !/^out\s/i.test(part)).join(', ')
}

export function createFunction(draft: FunctionDraft, replace = false): Plan {
  const trigger = draft.returns.trim().toLowerCase() === 'trigger'
  const call = `${qualified(draft.name)}(${argumentTypes(draft.arguments)})`
  const withheld = apiRoles.filter((role) => !draft.roles.includes(role))
  const body = draft.body.startsWith('\n') ? draft.body : `\n${draft.body}`
  return {
    statements: [
      free([
        `create ${replace ? 'or replace ' : ''}function ${qualified(draft.name)}(${draft.arguments.trim()})`,
        `returns ${draft.returns.trim()}`,
        `language ${ident(draft.language)}`,
        ...draft.volatility === 'volatile' ? [] : [draft.volatility],
        ...draft.securityDefiner ? ['security definer', `set search_path = ''`] : [],
        `as ${dollars(body.endsWith('\n') ? body : `${body}\n`)}`,
      ].join('\n')),
      ...draft.comment ? [comment('function', call, draft.comment)] : [],
      ...trigger ? [] : [
        ...withheld.length ? [free(`revoke execute on function ${call} from public${withheld.length ? `, ${withheld.join(', ')}` : ''}`, 'Whoever is made anew in PostgreSQL is callable by all until this.')] : [],
        ...withheld.length && draft.roles.length ? [free(`grant execute on function ${call} to ${draft.roles.join(', ')}`)] : [],
      ],
    ],
    ...(draft.securityDefiner ? { warnings: ['It runs with the rights of its owner, past row level security. Its search_path is emptied: write schema.name in its body.'] } : {}),
  }
}

/** Replaces a routine by a whole `create or replace` text. */
export function replaceFunction(definition: string): Plan {
  return { statements: [free(definition.trim().replace(/;\s*$/, ''), 'Calls that run now end with the old body.')] }
}

/** Drops a function, procedure or aggregate. `identity` are its arguments as PostgreSQL identifies it. */
export function dropFunction(name: Name, identity: string, kind: string, cascade: boolean): Plan {
  const word = kind === 'procedure' || kind === 'aggregate' ? kind : 'function'
  return {
    statements: [free(`drop ${word} ${qualified(name)}(${identity})${cascade ? ' cascade' : ''}`)],
    warnings: [`Apps that call /rest/v1/rpc/${name.name} fail from then on.`],
  }
}

export const triggerEvents = ['insert', 'update', 'delete', 'truncate'] as const

export interface TriggerDraft {
  name: string
  timing: 'before' | 'after' | 'instead of'
  events: readonly (typeof triggerEvents)[number][]
  /** Only updates of these columns. */
  columns: readonly string[]
  each: 'row' | 'statement'
  when: string
  function: Name
}

export function createTrigger(table: Name, draft: TriggerDraft): Plan {
  const events = draft.events.map((event) => event === 'update' && draft.columns.length ? `update of ${idents(draft.columns)}` : event)
  return {
    statements: [onTable([
      `create trigger ${ident(draft.name)}`,
      `${draft.timing} ${events.join(' or ')} on ${qualified(table)}`,
      `for each ${draft.each}`,
      ...draft.when.trim() ? [`when (${draft.when.trim()})`] : [],
      `execute function ${qualified(draft.function)}()`,
    ].join('\n'), table, 'SHARE ROW EXCLUSIVE')],
  }
}

export function dropTrigger(table: Name, name: string): Plan {
  return { statements: [onTable(`drop trigger ${ident(name)} on ${qualified(table)}`, table)] }
}

export function switchTrigger(table: Name, name: string, on: boolean): Plan {
  return { statements: [onTable(`alter table ${qualified(table)}\n${on ? 'enable' : 'disable'} trigger ${ident(name)}`, table, 'SHARE ROW EXCLUSIVE')] }
}
