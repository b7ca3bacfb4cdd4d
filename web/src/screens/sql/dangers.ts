// What a person should know of statements: what they destroy, what they stop for everybody else, which tables they make.
import type { Statement, Word } from '../../sql/statements.ts'

interface Danger {
  /** What the statement does, such as "delete from public.orders". */
  what: string
  /** What that means. */
  why: string
}

/** About how many rows a table has, as the catalog says; undefined for tables that it does not know. */
type RowsOf = (schema: string | undefined, table: string) => number | undefined

/** Tables of fewer rows are locked so shortly that a warning would only be clicked away. */
const quick = 10_000

const words = new Intl.NumberFormat('en')
const about = (rows: number | undefined) => rows === undefined ? '' : ` (about ${words.format(rows)} ${rows === 1 ? 'row' : 'rows'})`

/** The words of a statement with what reads a name from them. */
class Reader {
  readonly words: readonly Word[]
  constructor(given: readonly Word[]) { this.words = given }

  is(at: number, ...texts: string[]): boolean {
    return texts.every((text, i) => this.words[at + i]?.text === text && !this.words[at + i]!.quoted)
  }

  has(text: string, from = 0): boolean {
    return this.words.some((word, i) => i >= from && word.text === text && !word.quoted)
  }

  /** The name at a place, past "only" and "if exists". */
  name(at: number): { schema: string | undefined, name: string } {
    while (this.is(at, 'only') || this.is(at, 'if') || this.is(at, 'not') || this.is(at, 'exists') || this.is(at, 'concurrently')) at++
    const first = this.words[at]?.text ?? ''
    return this.is(at + 1, '.') ? { schema: first, name: this.words[at + 2]?.text ?? '' } : { schema: undefined, name: first }
  }
}

const written = (name: { schema: string | undefined, name: string }) => name.schema === undefined ? name.name : `${name.schema}.${name.name}`

/** The table that a statement makes, if it is one that outlives the session. */
export function madeBy(statement: Statement): { schema: string | undefined, name: string } | undefined {
  const all = new Reader(statement.words)
  const at = all.is(0, 'create', 'table') ? 2 : all.is(0, 'create', 'unlogged', 'table') ? 3 : 0
  return at === 0 ? undefined : all.name(at)
}

/** What there is to warn of in a statement. */
export function dangersOf(statement: Statement, rowsOf: RowsOf): Danger[] {
  let all = new Reader(statement.words)
  if (all.is(0, 'explain')) {
    if (!all.has('analyze')) return []
    const start = all.words.findIndex((word, i) => i > 0 && word.depth === 0 && ['select', 'insert', 'update', 'delete', 'with', 'merge'].includes(word.text))
    if (start < 0) return []
    all = new Reader(all.words.slice(start))
  }
  const first = all.words[0]?.text
  switch (first) {
    case 'delete':
    case 'update':
    case 'with': return unbounded(all, rowsOf)
    case 'truncate': {
      const table = all.name(all.is(1, 'table') ? 2 : 1)
      return [{ what: `truncate ${written(table)}`, why: `All its rows${about(rowsOf(table.schema, table.name))} go${all.has('cascade') ? ', and those of every table that refers to it' : ''}. Nobody can read it until that is done.` }]
    }
    case 'drop': return drop(all, rowsOf)
    case 'alter': return alter(all, rowsOf)
    case 'create': return createIndex(all, rowsOf)
    case 'lock': {
      const table = all.name(all.is(1, 'table') ? 2 : 1)
      return [{ what: `lock ${written(table)}`, why: 'Others wait until the transaction ends.' }]
    }
    case 'vacuum': return all.has('full') ? [{ what: 'vacuum full', why: 'The table is written anew. Nobody can read or change it until that is done.' }] : []
    case 'cluster': return [{ what: 'cluster', why: 'The table is written anew in the order of an index. Nobody can read or change it until that is done.' }]
    case 'reindex': return all.has('concurrently') ? [] : [{ what: 'reindex', why: 'Changes of the table wait until the index is built. With "concurrently" they do not.' }]
    case 'refresh': return all.has('concurrently') ? [] : [{ what: `refresh materialized view ${written(all.name(3))}`, why: 'Readers of the view wait until it is filled. With "concurrently" they do not, when it has a unique index.' }]
    default: return []
  }
}

/** Deletes and updates without a where of their own, also those within "with". */
function unbounded(all: Reader, rowsOf: RowsOf): Danger[] {
  const found: Danger[] = []
  for (const [i, word] of all.words.entries()) {
    const deletes = all.is(i, 'delete', 'from')
    const updates = all.is(i, 'update') && !['for', 'key', 'do', 'on'].includes(all.words[i - 1]?.text ?? '')
    if (!deletes && !updates) continue
    let end = i + 1
    while (end < all.words.length && all.words[end]!.depth >= word.depth) end++
    const own = all.words.slice(i, end)
    if (own.some((other) => !other.quoted && other.text === 'where' && other.depth === word.depth)) continue
    const table = all.name(i + (deletes ? 2 : 1))
    found.push({
      what: `${deletes ? 'delete from' : 'update'} ${written(table)} without where`,
      why: `Every row of ${written(table)}${about(rowsOf(table.schema, table.name))} is ${deletes ? 'deleted' : 'changed'}.`,
    })
  }
  return found
}

function drop(all: Reader, rowsOf: RowsOf): Danger[] {
  const kinds = [['materialized', 'view'], ['foreign', 'table'], ['event', 'trigger'], ['foreign', 'data', 'wrapper'], ['text', 'search', 'configuration']]
  const kind = kinds.find((parts) => all.is(1, ...parts)) ?? [all.words[1]?.text ?? '']
  const target = all.name(1 + kind.length)
  const cascade = all.has('cascade') ? ' With "cascade" goes whatever depends on it.' : ''
  const why = kind[0] === 'table' ? `The table${about(rowsOf(target.schema, target.name))} is gone, with its policies, indexes and triggers.`
    : kind[0] === 'schema' ? 'The schema is gone.'
      : kind[0] === 'database' ? 'The whole database is gone.'
        : 'It is gone; what uses it fails.'
  return [{ what: `drop ${kind.join(' ')} ${written(target)}`, why: why + cascade }]
}

function alter(all: Reader, rowsOf: RowsOf): Danger[] {
  if (!all.is(1, 'table')) return all.is(1, 'system') ? [{ what: 'alter system', why: 'The settings of the whole server change.' }] : []
  const table = all.name(2)
  const rows = rowsOf(table.schema, table.name)
  const at = all.words.findIndex((word, i) => i > 1 && word.text === 'drop' && !word.quoted)
  const found: Danger[] = []
  if (at >= 0 && !['not', 'default', 'identity', 'expression', 'constraint'].includes(all.words[at + 1]?.text ?? '')) {
    const column = all.name(all.is(at + 1, 'column') ? at + 2 : at + 1)
    found.push({ what: `drop column ${column.name} of ${written(table)}`, why: `Its values${about(rows)} are gone.` })
  }
  if (rows !== undefined && rows >= quick) {
    found.push({ what: `alter table ${written(table)}`, why: `The table${about(rows)} is locked: nobody can read or change it until this is done${all.has('type') || all.has('validate') || all.has('check') ? ', which looks at every row' : ''}.` })
  }
  return found
}

function createIndex(all: Reader, rowsOf: RowsOf): Danger[] {
  if (!all.is(1, 'index') && !all.is(1, 'unique', 'index') || all.has('concurrently')) return []
  const on = all.words.findIndex((word) => word.text === 'on' && !word.quoted && word.depth === 0)
  if (on < 0) return []
  const table = all.name(on + 1)
  const rows = rowsOf(table.schema, table.name)
  if (rows === undefined || rows < quick) return []
  return [{ what: `create index on ${written(table)}`, why: `Changes of the table${about(rows)} wait until the index is built. With "concurrently" they do not.` }]
}
