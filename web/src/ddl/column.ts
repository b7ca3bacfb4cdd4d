// Adds, alters and drops columns.
import { castsItself, keepsRows, sameType, volatile } from './pgtypes.ts'
import { comment, nothing, onTable, together, type Plan, type Statement } from './plan.ts'
import { ident, qualified, type Name } from './quote.ts'

export interface ColumnDraft {
  name: string
  /** As SQL spells it. */
  type: string
  notNull: boolean
  /** An expression, "" for none. */
  default: string
  identity: '' | 'always' | 'by default'
  /** The expression of a generated column, "" for none. */
  generated: string
  comment: string
}

export const newColumn: ColumnDraft = { name: '', type: 'text', notNull: false, default: '', identity: '', generated: '', comment: '' }

/** A column as it stands in `create table` and `add column`. */
export function columnClause(column: ColumnDraft): string {
  return [
    ident(column.name),
    column.type.trim(),
    column.identity && `generated ${column.identity} as identity`,
    column.generated.trim() && `generated always as (${column.generated.trim()}) stored`,
    column.notNull && !column.identity && 'not null',
    column.default.trim() && !column.identity && !column.generated.trim() && `default ${column.default.trim()}`,
  ].filter(Boolean).join(' ')
}

function columnComment(table: Name, name: string, text: string): Statement {
  return comment('column', `${qualified(table)}.${ident(name)}`, text, table)
}

/** Adds a column. `filled`: the table has rows, or may have. */
export function addColumn(table: Name, column: ColumnDraft, filled: boolean): Plan {
  const expression = column.identity || column.generated.trim() ? '' : column.default.trim()
  const perRow = column.identity ? 'each row gets a number of its own' : column.generated.trim() ? 'the values are computed for each row' : expression && volatile(expression) ? 'the default may differ from row to row' : ''
  const said = column.comment ? [columnComment(table, column.name, column.comment)] : []
  const add = (clause: string, rewrites: boolean, note?: string) => onTable(`alter table ${qualified(table)}\nadd column ${clause}`, table, 'ACCESS EXCLUSIVE', rewrites ? 'rewrite' : 'none', note)
  const warnings = column.notNull && !expression && !column.identity && !column.generated.trim() && filled
    ? ['A new column without a default is null in the rows that are there: NOT NULL will be refused while there are any. Give a default.'] : []
  const plan: Plan = {
    statements: [add(columnClause(column), perRow !== '', perRow ? `All rows are written anew: ${perRow}.` : expression ? 'The default is stored once: no row is touched.' : undefined), ...said],
    ...(warnings.length ? { warnings } : {}),
  }
  if (expression && perRow && filled && !column.notNull) {
    plan.safer = {
      label: 'Leave the rows that are there empty',
      why: 'The default then holds for new rows only. Fill the others later, some thousands at a time.',
      plan: {
        statements: [
          add(columnClause({ ...column, default: '' }), false),
          onTable(`alter table ${qualified(table)}\nalter column ${ident(column.name)} set default ${expression}`, table),
          ...said,
        ],
      },
    }
  }
  return plan
}

interface AlterOptions {
  /** How values become those of another type; "" for the cast. */
  using: string
  /** The table has a valid check that the column is not null. */
  checked?: boolean
}

/** Changes a column into another. */
export function alterColumn(table: Name, was: ColumnDraft, now: ColumnDraft, options: AlterOptions = { using: '' }): Plan {
  const target = `alter table ${qualified(table)}`
  const of = `alter column ${ident(now.name)}`
  const plans: Plan[] = []
  const add = (...statements: Statement[]) => plans.push({ statements })
  if (now.name !== was.name) {
    plans.push({
      statements: [onTable(`${target}\nrename column ${ident(was.name)} to ${ident(now.name)}`, table)],
      warnings: [`Apps that read or write ${was.name} through the API fail from the moment of the change. Views, keys and policies follow by themselves; the bodies of functions do not.`],
    })
  }
  if (was.generated && !now.generated.trim()) {
    add(onTable(`${target}\n${of} drop expression`, table, 'ACCESS EXCLUSIVE', 'none', 'The values that were computed stay as plain values.'))
  }
  const retyped = !sameType(was.type, now.type)
  if (retyped) {
    const keeps = keepsRows(was.type, now.type)
    const using = options.using.trim() || (castsItself(was.type, now.type) ? '' : `${ident(now.name)}::${now.type.trim()}`)
    // The old default may have no cast to the new type: it is taken away, and set again.
    const loose = was.default && !keeps && !castsItself(was.type, now.type)
    if (loose) add(onTable(`${target}\n${of} drop default`, table))
    plans.push({
      statements: [onTable(`${target}\n${of} type ${now.type.trim()}${using ? ` using ${using}` : ''}`, table, 'ACCESS EXCLUSIVE', keeps && !options.using.trim() ? 'none' : 'rewrite',
        keeps && !options.using.trim() ? 'The values are stored alike in both types: no row is touched.' : 'All rows and the indexes of the table are written anew.')],
      ...(keeps ? {} : { warnings: ['Values that do not fit the new type make the change fail; nothing is changed then. Views that read the column refuse the change.'] }),
    })
    if (loose && now.default.trim() === was.default) add(onTable(`${target}\n${of} set default ${now.default.trim()}`, table))
  }
  if (!now.identity && was.identity) add(onTable(`${target}\n${of} drop identity`, table))
  if (!now.identity && now.default.trim() !== was.default && !now.generated.trim()) {
    add(onTable(`${target}\n${of} ${now.default.trim() ? `set default ${now.default.trim()}` : 'drop default'}`, table, 'ACCESS EXCLUSIVE', 'none', 'It holds for rows written from now on.'))
  }
  if (now.notNull && !was.notNull) plans.push(setNotNull(table, now.name, options.checked ?? false))
  if (!now.notNull && was.notNull && !now.identity) add(onTable(`${target}\n${of} drop not null`, table))
  if (now.identity && now.identity !== was.identity) {
    if (was.identity) add(onTable(`${target}\n${of} set generated ${now.identity}`, table))
    else {
      if (was.default) add(onTable(`${target}\n${of} drop default`, table))
      add(onTable(`${target}\n${of} add generated ${now.identity} as identity`, table, 'ACCESS EXCLUSIVE', 'none', 'The numbers begin at 1: move the start with ALTER COLUMN … RESTART when there are rows.'))
    }
  }
  if (now.comment !== was.comment) add(columnComment(table, now.name, now.comment))
  return plans.length ? together(...plans) : nothing
}

/** Forbids null in a column. */
export function setNotNull(table: Name, column: string, checked: boolean): Plan {
  const target = `alter table ${qualified(table)}`
  const set = `${target}\nalter column ${ident(column)} set not null`
  if (checked) return { statements: [onTable(set, table, 'ACCESS EXCLUSIVE', 'none', 'A valid check says so already: no row is read.')] }
  const check = ident(`${column}_not_null`.slice(0, 63))
  return {
    statements: [onTable(set, table, 'ACCESS EXCLUSIVE', 'scan', 'All rows are read to see that none is null.')],
    safer: {
      label: 'Check first, without blocking',
      why: 'A check is added unproven and proven while reads and writes go on; then NOT NULL needs no look at the rows. Each step runs by itself.',
      plan: {
        alone: true,
        statements: [
          onTable(`${target}\nadd constraint ${check} check (${ident(column)} is not null) not valid`, table),
          onTable(`${target}\nvalidate constraint ${check}`, table, 'SHARE UPDATE EXCLUSIVE', 'scan'),
          onTable(set, table),
          onTable(`${target}\ndrop constraint ${check}`, table),
        ],
      },
    },
  }
}

/** Drops a column with its values. */
export function dropColumn(table: Name, column: string, cascade: boolean): Plan {
  return {
    statements: [onTable(`alter table ${qualified(table)}\ndrop column ${ident(column)}${cascade ? ' cascade' : ''}`, table, 'ACCESS EXCLUSIVE', 'none', 'Its indexes, and keys and checks that use it, go with it. Its space is given back as rows are written anew.')],
    warnings: [`The values cannot be brought back. Apps that read or write ${column} through the API fail from then on.`],
  }
}
