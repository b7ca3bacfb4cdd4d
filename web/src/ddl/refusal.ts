// Finds the field of a form that a refusal of PostgreSQL concerns.

interface Refusal { code: string, message: string, position?: number | undefined }

const byCode: Record<string, readonly string[]> = {
  '42P07': ['name'], // duplicate table, index
  '42710': ['name'], // duplicate object
  '42701': ['name', 'columns'], // duplicate column
  '42723': ['name'], // duplicate function
  '42P06': ['name'], // duplicate schema
  '42602': ['name'],
  '42622': ['name'],
  '42939': ['name'],
  '42704': ['type', 'method', 'returns'], // undefined object
  '42804': ['default', 'using', 'returns'], // datatype mismatch
  '42846': ['using', 'type'],
  '22P02': ['default', 'using', 'type'], // invalid text for a type
  '22007': ['default', 'using', 'type'],
  '22008': ['default', 'using', 'type'],
  '22001': ['default', 'type'], // too long
  '22003': ['default', 'type'], // out of range
  '23502': ['notNull', 'columns'],
  '23503': ['columns'],
  '23505': ['columns', 'name'],
  '23514': ['expression'],
  '42830': ['target', 'columns'], // foreign key without a unique key over there
  '42P16': ['columns', 'query', 'notNull'], // invalid definition
  '42P17': ['generated', 'where', 'expression', 'arguments'], // not immutable
  '42P13': ['returns', 'arguments', 'body'],
  '42883': ['default', 'expression', 'generated', 'where', 'function', 'body', 'query'],
  '42703': ['expression', 'generated', 'where', 'columns', 'body', 'query'],
  '42601': ['type', 'default', 'expression', 'generated', 'where', 'body', 'query', 'arguments'],
}

/**
 * Gives the key of the field, "" when there is none. PostgreSQL's position in the statement says it best: the field
 * whose text stands there, or ends just before (a syntax error is noticed at the next word).
 */
export function fieldOf(refusal: Refusal, sql: string, fields: Readonly<Record<string, string>>): string {
  if (refusal.position !== undefined) {
    const at = [...sql].slice(0, refusal.position - 1).join('').length // from characters to UTF-16 units
    let best = ''
    let distance = 4
    for (const [field, value] of Object.entries(fields)) {
      const text = value.trim()
      if (text === '') continue
      for (let start = sql.indexOf(text); start >= 0; start = sql.indexOf(text, start + 1)) {
        const away = at < start ? Infinity : Math.max(0, at - (start + text.length - 1))
        if (away < distance || away === 0 && distance === 0 && text.length < fields[best]!.trim().length) [best, distance] = [field, away]
      }
    }
    if (best) return best
  }
  const named = byCode[refusal.code]?.filter((field) => field in fields) ?? []
  return named.find((field) => fields[field]!.trim() !== '') ?? named[0] ?? ''
}
