/** The beginning of a statement on one line, without the comments before it. */
export function oneLine(sql: string): string {
  return sql.replace(/^(\s*--[^\n]*\n)+/, '').slice(0, 300).replaceAll(/\s+/g, ' ').trim()
}
