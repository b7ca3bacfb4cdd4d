import type { Column, Value } from './types.ts'

/** Characters of a value that enter the document. Values may be megabytes. */
const shown = 200

/** A piece of a cell's text. Marks stand for characters that cannot be seen or would reorder others. */
interface Piece {
  text: string
  mark: boolean
}

/** The first characters of a value, without splitting a surrogate pair, and "…" when there are more. */
export function shorten(value: string, limit = shown): string {
  if (value.length <= limit) return value
  const last = value.charCodeAt(limit - 1)
  return value.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit) + '…'
}

// C0 and C1 controls, soft hyphen, zero-width and bidirectional controls, line and paragraph separators,
// byte order mark, interlinear and tag characters: all that a reader cannot see or that changes how
// neighbours are read (Unicode Technical Report 36, "Bidirectional Text Spoofing"). Zero-width joiner is
// left alone: emoji and several scripts need it.
const unseen =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/u
const unseenParts = new RegExp(`(${unseen.source})`, 'u')

function mark(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code === 10) return '↵'
  if (code === 9) return '⇥'
  return 'U+' + code.toString(16).toUpperCase().padStart(4, '0')
}

/** A value's first characters with everything unseen made visible. */
export function pieces(value: string): Piece[] {
  const text = shorten(value)
  if (!unseen.test(text)) return [{ text, mark: false }]
  return text
    .split(unseenParts)
    .filter((part) => part !== '')
    .map((part) => (unseen.test(part) ? { text: mark(part), mark: true } : { text: part, mark: false }))
}

/** What a cell shows of a value when that is one text, and the class of its look. */
export interface Written {
  text: string
  look: 'plain' | 'special' | 'special null' | 'special required' | 'boolean' | 'boolean true' | 'tag'
}

/** A value as one text; null when it takes several pieces: marks among its characters, or a size before them. */
export function write(column: Column, value: Value | undefined): Written | null {
  if (value === undefined) {
    const text = unset(column)
    return { text, look: text === 'NULL' ? 'special null' : text === 'required' ? 'special required' : 'special' }
  }
  if (value === null) return { text: 'NULL', look: 'special null' }
  if (value === '') return { text: 'empty', look: 'special' }
  if (column.kind === 'boolean') {
    const yes = /^(t|true|y|yes|on|1)$/i.test(value)
    return { text: yes ? 'true' : 'false', look: yes ? 'boolean true' : 'boolean' }
  }
  if (column.kind === 'bytea') return null
  const text = shorten(value)
  return unseen.test(text) ? null : { text, look: column.kind === 'enum' ? 'tag' : 'plain' }
}

/** Bytes of a bytea in PostgreSQL's hex format (`\x…`). */
export function byteaSize(value: string): number {
  return value.startsWith('\\x') ? (value.length - 2) >> 1 : value.length
}

export function bytes(size: number): string {
  if (size < 1024) return `${size} B`
  if (size < 1024 * 1024) return `${(size / 1024).toFixed(1)} KiB`
  return `${(size / 1024 / 1024).toFixed(1)} MiB`
}

/** What a new row holds where nothing was written. */
export function unset(column: Column): string {
  return column.default !== undefined ? 'default' : column.readonly ? 'generated' : column.nullable ? 'NULL' : 'required'
}

const groups = new Intl.NumberFormat('en')

export function count(n: number): string {
  return groups.format(n)
}
