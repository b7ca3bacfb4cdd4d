// Primary and foreign keys, unique constraints and checks.
import { setNotNull } from './column.ts'
import { onTable, together, type Lock, type Plan, type Statement } from './plan.ts'
import { ident, idents, qualified, type Name } from './quote.ts'

export const actions = ['no action', 'restrict', 'cascade', 'set null', 'set default'] as const
type Action = (typeof actions)[number]

export interface ForeignKeyDraft {
  /** "" for the name that PostgreSQL gives. */
  name: string
  columns: readonly string[]
  target: Name
  targetColumns: readonly string[]
  onUpdate: Action
  onDelete: Action
  deferrable: boolean
}

interface KeyDraft { kind: 'primary key' | 'unique', name: string, columns: readonly string[], nullsNotDistinct?: boolean }
export interface CheckDraft { name: string, expression: string }

const named = (name: string) => name ? `constraint ${ident(name)} ` : ''

/** The name that PostgreSQL would give: tables, columns and what it is, within 63 bytes. */
export function defaultName(table: string, columns: readonly string[], end: string): string {
  const name = [table, ...columns, end].join('_')
  return name.length <= 63 ? name : `${[table, ...columns].join('_').slice(0, 62 - end.length)}_${end}`
}

export function foreignKeyClause(key: ForeignKeyDraft): string {
  return [
    `${named(key.name)}foreign key (${idents(key.columns)})`,
    `references ${qualified(key.target)}${key.targetColumns.length ? ` (${idents(key.targetColumns)})` : ''}`,
    key.onUpdate !== 'no action' && `on update ${key.onUpdate}`,
    key.onDelete !== 'no action' && `on delete ${key.onDelete}`,
    key.deferrable && 'deferrable',
  ].filter(Boolean).join(' ')
}

export function keyClause(key: KeyDraft): string {
  return `${named(key.name)}${key.kind}${key.nullsNotDistinct && key.kind === 'unique' ? ' nulls not distinct' : ''} (${idents(key.columns)})`
}

export function checkClause(check: CheckDraft): string {
  return `${named(check.name)}check (${check.expression.trim()})`
}

/** The locks of a foreign key that is added: both tables can be read, neither written. */
function foreignKeyLocks(table: Name, key: ForeignKeyDraft): Lock[] {
  return [table, ...qualified(table) === qualified(key.target) ? [] : [key.target]].map((of) => ({ table: of, mode: 'SHARE ROW EXCLUSIVE' }))
}

/** Adds a foreign key. `indexed`: an index begins with its columns. */
export function addForeignKey(table: Name, key: ForeignKeyDraft, indexed = true): Plan {
  const name = key.name || defaultName(table.name, key.columns, 'fkey')
  const add = (clause: string): Omit<Statement, 'work'> => ({ sql: `alter table ${qualified(table)}\nadd ${clause}`, locks: foreignKeyLocks(table, key) })
  const named = foreignKeyClause({ ...key, name })
  const proof: Statement = {
    sql: `alter table ${qualified(table)}\nvalidate constraint ${ident(name)}`,
    locks: [{ table, mode: 'SHARE UPDATE EXCLUSIVE' }, ...foreignKeyLocks(table, key).slice(1).map((lock): Lock => ({ ...lock, mode: 'ROW SHARE' }))],
    work: 'scan',
    over: table,
  }
  return {
    statements: [{ ...add(named), work: 'scan', over: table, note: 'Every row is looked up in the other table while both are locked.' }],
    ...(indexed ? {} : { warnings: [`No index begins with ${key.columns.join(', ')}: deletes and updates of ${key.target.name}, and joins, read the whole of ${table.name}. Add an index.`] }),
    safer: {
      label: 'Add unproven, then prove',
      why: 'NOT VALID takes the locks for a moment only; VALIDATE then reads the rows while reads and writes go on. Each step runs by itself.',
      plan: { alone: true, statements: [{ ...add(`${named} not valid`), work: 'none' }, proof] },
    },
  }
}

/** Adds a primary key or a unique constraint. `nullable` are those of its columns that may be null. */
export function addKey(table: Name, key: KeyDraft, nullable: readonly string[] = []): Plan {
  const name = key.name || (key.kind === 'primary key' ? `${table.name}_pkey`.slice(0, 63) : defaultName(table.name, key.columns, 'key'))
  const target = `alter table ${qualified(table)}`
  const distinct = key.nullsNotDistinct && key.kind === 'unique' ? ' nulls not distinct' : ''
  const before = key.kind === 'primary key' ? nullable.map((column) => setNotNull(table, column, false).safer!.plan) : []
  return {
    statements: [onTable(`${target}\nadd ${keyClause({ ...key, name })}`, table, 'ACCESS EXCLUSIVE', 'index', 'Its index is built while the table is locked. Duplicates make it fail.')],
    safer: {
      label: 'Build the index concurrently',
      why: 'The index is built while reads and writes go on, and becomes the constraint in a moment. Each step runs by itself; if one fails, drop the invalid index and try again.',
      plan: together(...before, {
        alone: true,
        statements: [
          onTable(`create unique index concurrently ${ident(name)} on ${qualified(table)} (${idents(key.columns)})${distinct}`, table, 'SHARE UPDATE EXCLUSIVE', 'index'),
          onTable(`${target}\nadd constraint ${ident(name)} ${key.kind} using index ${ident(name)}`, table),
        ],
      }),
    },
  }
}

/** Adds a check. */
export function addCheck(table: Name, check: CheckDraft): Plan {
  const name = check.name || `${table.name}_check`.slice(0, 63)
  const target = `alter table ${qualified(table)}`
  const clause = checkClause({ ...check, name })
  return {
    statements: [onTable(`${target}\nadd ${clause}`, table, 'ACCESS EXCLUSIVE', 'scan', 'All rows are read to see that they hold to it.')],
    safer: {
      label: 'Add unproven, then prove',
      why: 'NOT VALID holds for new rows at once; VALIDATE then reads the others while reads and writes go on. Each step runs by itself.',
      plan: { alone: true, statements: [onTable(`${target}\nadd ${clause} not valid`, table), onTable(`${target}\nvalidate constraint ${ident(name)}`, table, 'SHARE UPDATE EXCLUSIVE', 'scan')] },
    },
  }
}

/** Proves a constraint that was added as NOT VALID. */
export function validate(table: Name, name: string): Plan {
  return { statements: [onTable(`alter table ${qualified(table)}\nvalidate constraint ${ident(name)}`, table, 'SHARE UPDATE EXCLUSIVE', 'scan')] }
}

/** Drops a constraint; `other` is the table that a foreign key points at. */
export function dropConstraint(table: Name, name: string, cascade: boolean, other?: Name): Plan {
  const drop = onTable(`alter table ${qualified(table)}\ndrop constraint ${ident(name)}${cascade ? ' cascade' : ''}`, table)
  return {
    statements: [other && qualified(other) !== qualified(table) ? { ...drop, locks: [...drop.locks, { table: other, mode: 'ACCESS EXCLUSIVE' }] } : drop],
    ...(other ? { warnings: ['Embedding the other table through the API needs this key: requests that do so fail from then on.'] } : {}),
  }
}

/** Renames a constraint. */
export function renameConstraint(table: Name, name: string, to: string): Plan {
  return { statements: [onTable(`alter table ${qualified(table)}\nrename constraint ${ident(name)} to ${ident(to)}`, table)] }
}
