// Names in the REST API's queries (docs: PostgREST's, "Reserved characters").

const reserved = new Set(['select', 'order', 'limit', 'offset', 'and', 'or', 'not', 'columns', 'on_conflict'])

/** A name as REST takes it in select, order and the names of filters: quoted where it would be read as something else. */
export function restName(name: string): string {
  return /^[\p{L}_][\p{L}\p{N}_$]*$/u.test(name) && !reserved.has(name) ? name : quoted(name)
}

/** A value or name in quotes, for lists. */
export function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}
