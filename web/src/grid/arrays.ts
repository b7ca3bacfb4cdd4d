import type { Value } from './types.ts'

/**
 * The elements of a one-dimensional array in PostgreSQL's text form (PostgreSQL manual §8.15.6), "nested"
 * for arrays of more dimensions or with bounds of their own, null when the text is no array.
 */
export function parseArray(text: string): Value[] | 'nested' | null {
  const t = text.trim()
  if (t.startsWith('[')) return /^\[[\d:+-]+\].*=\s*\{/.test(t) ? 'nested' : null
  if (!t.startsWith('{') || !t.endsWith('}') || t.length < 2) return null
  const items: Value[] = []
  let at = 1
  const space = () => {
    while (/\s/.test(t[at] ?? '')) at++
  }
  space()
  if (at === t.length - 1) return items
  for (;;) {
    space()
    if (t[at] === '{') return 'nested'
    let item = ''
    const quoted = t[at] === '"'
    if (quoted) {
      at++
      while (at < t.length && t[at] !== '"') {
        if (t[at] === '\\') at++
        item += t[at] ?? ''
        at++
      }
      if (t[at] !== '"') return null
      at++
      space()
    } else {
      while (at < t.length && t[at] !== ',' && t[at] !== '}' && t[at] !== '"' && t[at] !== '{') {
        if (t[at] === '\\') at++
        item += t[at] ?? ''
        at++
      }
      item = item.trimEnd()
      if (item === '') return null
    }
    items.push(!quoted && item.toUpperCase() === 'NULL' ? null : item)
    if (t[at] === ',') at++
    else return t[at] === '}' && at === t.length - 1 ? items : null
  }
}

export function formatArray(items: readonly Value[]): string {
  return '{' + items.map(element).join(',') + '}'
}

function element(item: Value): string {
  if (item === null) return 'NULL'
  const plain = item !== '' && item.toUpperCase() !== 'NULL' && !/[\s{}",\\]/.test(item)
  return plain ? item : '"' + item.replace(/["\\]/g, '\\$&') + '"'
}
