// What the editor proposes: tables, the columns of the tables that the statement names, functions. Keywords come from the
// dialect.
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { relationsOf } from '../app/catalog.ts'
import type { CatalogBody, ColumnBody, RelationBody } from '../generated/admin.ts'
import { split, statementAt, tablesOf } from './statements.ts'

export interface Names {
  schemas: readonly string[]
  relations: readonly RelationBody[]
  functions: readonly { schema: string, name: string, arguments: string, returns: string }[]
  /** Columns that are meant without a table's being named, as in a check of it. */
  columns?: readonly ColumnBody[]
}

export function namesOf(catalog: CatalogBody | undefined): Names {
  return {
    schemas: catalog?.schemas.map(({ name }) => name) ?? [],
    relations: relationsOf(catalog),
    functions: catalog?.functions ?? [],
  }
}

/** Functions of PostgreSQL itself that are written most. */
const builtIn: readonly (readonly [string, string])[] = [
  ['abs', 'number'], ['age', 'timestamptz, timestamptz'], ['array_agg', 'any'], ['array_length', 'array, dimension'], ['array_to_string', 'array, text'], ['avg', 'number'],
  ['ceil', 'number'], ['coalesce', 'any, …'], ['concat', 'any, …'], ['concat_ws', 'separator, any, …'], ['count', '*'], ['current_setting', 'name, missing_ok'],
  ['date_bin', 'interval, timestamptz, origin'], ['date_part', 'field, timestamptz'], ['date_trunc', 'field, timestamptz'], ['dense_rank', ''], ['encode', 'bytea, format'], ['extract', 'field from timestamptz'],
  ['first_value', 'any'], ['floor', 'number'], ['format', 'format, any, …'], ['format_type', 'oid, typmod'], ['gen_random_uuid', ''], ['generate_series', 'start, stop, step'], ['greatest', 'any, …'],
  ['initcap', 'text'], ['json_agg', 'any'], ['json_build_object', 'key, value, …'], ['jsonb_agg', 'any'], ['jsonb_array_elements', 'jsonb'], ['jsonb_build_object', 'key, value, …'], ['jsonb_each', 'jsonb'], ['jsonb_object_agg', 'key, value'],
  ['jsonb_path_query', 'jsonb, path'], ['jsonb_pretty', 'jsonb'], ['jsonb_set', 'jsonb, path, value'], ['lag', 'any, offset'], ['last_value', 'any'], ['lead', 'any, offset'], ['least', 'any, …'], ['left', 'text, n'], ['length', 'text'],
  ['lower', 'text'], ['lpad', 'text, length, fill'], ['make_interval', ''], ['max', 'any'], ['md5', 'text'], ['min', 'any'], ['now', ''], ['ntile', 'buckets'], ['nullif', 'any, any'], ['percentile_cont', 'fraction'],
  ['pg_size_pretty', 'bytes'], ['pg_total_relation_size', 'regclass'], ['random', ''], ['rank', ''], ['regexp_matches', 'text, pattern'], ['regexp_replace', 'text, pattern, replacement'], ['replace', 'text, from, to'], ['right', 'text, n'],
  ['round', 'numeric, digits'], ['row_number', ''], ['row_to_json', 'record'], ['split_part', 'text, delimiter, n'], ['string_agg', 'text, delimiter'], ['string_to_array', 'text, delimiter'], ['substring', 'text from n for n'], ['sum', 'number'],
  ['to_char', 'any, format'], ['to_date', 'text, format'], ['to_json', 'any'], ['to_jsonb', 'any'], ['to_timestamp', 'seconds'], ['to_tsquery', 'text'], ['to_tsvector', 'text'], ['trim', 'text'], ['unnest', 'array'], ['upper', 'text'], ['websearch_to_tsquery', 'text'],
]

// Words that PostgreSQL takes for a name only in quotes (Documentation, appendix C), as far as people use them for names.
const reserved = new Set('all analyse analyze and any array as asc both case cast check collate column constraint create current_date current_role current_time current_timestamp current_user default deferrable desc distinct do else end except false fetch for foreign from grant group having in initially intersect into lateral leading limit localtime localtimestamp not null offset on only or order placing primary references returning select session_user some symmetric table then to trailing true union unique user using variadic when where window with'.split(' '))

/** A name as it is written in SQL. */
function quoted(name: string): string {
  return /^[a-z_][a-z0-9_$]*$/.test(name) && !reserved.has(name) ? name : `"${name.replaceAll('"', '""')}"`
}

const tableOption = (relation: RelationBody, boost: number, withSchema: boolean): Completion => ({
  label: relation.name, apply: (withSchema ? quoted(relation.schema) + '.' : '') + quoted(relation.name), detail: `${relation.schema} · ${relation.kind}`, type: 'class', boost,
})

const unquote = (name: string) => name.startsWith('"') ? name.slice(1).replace(/"$/, '').replaceAll('""', '"') : name.toLowerCase()

/** Proposals for a place. */
export function completions(context: CompletionContext, names: Names): CompletionResult | null {
  const before = context.matchBefore(/(?:(?:"(?:[^"]|"")*"|[\w$\u0080-\uffff]+)\s*\.\s*){0,2}"?[\w$\u0080-\uffff]*$/)
  if (!before || before.text === '' && !context.explicit) return null
  const text = context.state.doc.toString()
  if (text.length > 500_000) return null
  const statement = statementAt(split(text), text, context.pos)
  const tables = statement ? tablesOf(statement) : []
  const find = (schema: string | undefined, name: string) => names.relations.find((relation) => relation.name === name && (schema === undefined ? true : relation.schema === schema))
  const parts = before.text.split('.').map((part) => part.trim())
  const from = before.to - (parts.at(-1)?.length ?? 0)
  const columnOptions = (some: readonly ColumnBody[], boost: number) => some.map((column): Completion => ({ label: column.name, apply: quoted(column.name), detail: column.type, type: 'property', boost }))
  const columnsOf = (relation: RelationBody, boost: number) => columnOptions(relation.columns, boost)
  const answer = (options: Completion[]): CompletionResult => ({ from, options, validFor: /^"?[\w$\u0080-\uffff]*$/ })

  if (parts.length > 1) {
    const owner = unquote(parts.at(-2)!)
    const named = tables.find((table) => table.alias === owner) ?? tables.find((table) => table.name === owner)
    const relation = parts.length === 3 ? find(unquote(parts[0]!), owner) : named ? find(named.schema, named.name) : find(undefined, owner)
    const options = relation ? columnsOf(relation, 2) : []
    if (parts.length === 2 && names.schemas.includes(owner)) {
      options.push(...names.relations.filter(({ schema }) => schema === owner).map((one) => tableOption(one, 1, false)))
      options.push(...names.functions.filter(({ schema }) => schema === owner).map((one): Completion => functionOption(one.name, one.arguments, one.returns, 0)))
    }
    return options.length > 0 ? answer(options) : null
  }
  const seen = new Set<string>()
  const columns = [...columnOptions(names.columns ?? [], 4), ...tables.flatMap((table) => {
    const relation = find(table.schema, table.name)
    return relation ? columnsOf(relation, 3) : []
  })].filter(({ label }) => !seen.has(label) && seen.add(label))
  const wantsTable = /\b(from|join|update|into|table|truncate|only)\s+$/i.test(context.state.sliceDoc(Math.max(0, before.from - 40), before.from))
  return answer([
    ...columns,
    ...tables.flatMap(({ alias }) => alias === undefined ? [] : [{ label: alias, apply: quoted(alias), detail: 'alias', type: 'variable', boost: 2 }]),
    ...names.relations.map((relation) => tableOption(relation, wantsTable ? 5 : relation.schema === 'public' ? 1 : 0, relation.schema !== 'public')),
    ...names.schemas.map((name): Completion => ({ label: name, apply: quoted(name), detail: 'schema', type: 'namespace' })),
    ...names.functions.map((one) => functionOption(one.name, one.arguments, one.returns, one.schema === 'public' ? 0 : -1, one.schema === 'public' ? undefined : one.schema)),
    ...builtIn.map(([name, takes]) => functionOption(name, takes, '', -1)),
  ])
}

function functionOption(name: string, takes: string, returns: string, boost: number, schema?: string): Completion {
  return {
    label: name, type: 'function', boost, detail: `(${takes.length > 40 ? takes.slice(0, 40) + '…' : takes})${returns ? ` ${returns}` : ''}`,
    apply: (view, _, from, to) => {
      const text = `${schema === undefined ? '' : quoted(schema) + '.'}${quoted(name)}()`
      view.dispatch({ changes: { from, to, insert: text }, selection: { anchor: from + text.length - (takes === '' ? 0 : 1) } })
    },
  }
}
