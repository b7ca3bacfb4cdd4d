// Spells names and texts as SQL. Every identifier and literal of a statement the dashboard makes goes through here.

/** A name within a schema. */
export interface Name { schema: string, name: string }

// Words that PostgreSQL takes as names only in quotes (reserved, and those that may be functions or types only).
const reserved = new Set('all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both case cast char character check coalesce collate collation column concurrently constraint create cross current_catalog current_date current_role current_schema current_time current_timestamp current_user dec decimal default deferrable desc distinct do else end except exists extract false fetch float for foreign freeze from full grant greatest group grouping having ilike in initially inner inout int integer intersect interval into is isnull join lateral leading least left like limit localtime localtimestamp national natural nchar none normalize not notnull null nullif numeric offset on only or order out outer overlaps overlay placing position precision primary real references returning right row select session_user setof similar smallint some substring symmetric system_user table tablesample then time timestamp to trailing treat trim true union unique user using values varchar variadic verbose when where window with xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable'.split(' '))

/** An identifier, in quotes unless it means the same without. */
export function ident(name: string): string {
  if (/^[a-z_][a-z0-9_]*$/.test(name) && !reserved.has(name)) return name
  return `"${name.replaceAll('\0', '').replaceAll('"', '""')}"`
}

/** Identifiers in a list. */
export function idents(names: readonly string[]): string {
  return names.map(ident).join(', ')
}

/** A name with its schema. */
export function qualified({ schema, name }: Name): string {
  return `${ident(schema)}.${ident(name)}`
}

/** A text as a literal, whatever standard_conforming_strings says. */
export function literal(text: string): string {
  const quoted = text.replaceAll('\0', '').replaceAll("'", "''")
  return quoted.includes('\\') ? `E'${quoted.replaceAll('\\', '\\\\')}'` : `'${quoted}'`
}

/** A text between dollar quotes that do not occur in it: the body of a function. */
export function dollars(text: string): string {
  let tag = ''
  for (let n = 0; `${text}$`.includes(`$${tag}$`); n++) tag = n === 0 ? 'body' : `body${n}`
  return `$${tag}$${text}$${tag}$`
}
