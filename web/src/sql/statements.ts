// Cuts SQL into statements and words by the lexical rules of PostgreSQL (Documentation, 4.1), well enough to find the
// statement at the cursor, the tables it names and what it may destroy. The server cuts again, and its word counts.

/** A word or a sign of a statement: what is in strings and comments is none. */
export interface Word {
  /** Unquoted words in lower case, quoted ones as they are named, signs as they stand. */
  text: string
  /** It stood in double quotes: it is a name, whatever it says. */
  quoted: boolean
  /** How many brackets are open around it. */
  depth: number
}

export interface Statement {
  /** Where it begins and ends in the text, in UTF-16 units, without its semicolon. */
  start: number
  end: number
  words: Word[]
}

const space = /\s/
const wordStart = /[A-Za-z_\u0080-\uffff]/
const wordPart = /[A-Za-z0-9_$\u0080-\uffff]/

/** Where a comment that begins at a place ends; block comments nest. */
function commentEnd(text: string, from: number): number {
  if (text[from] === '-') {
    const end = text.indexOf('\n', from)
    return end < 0 ? text.length : end
  }
  let depth = 0
  for (let at = from; at < text.length;) {
    if (text.startsWith('/*', at)) { depth++; at += 2 }
    else if (text.startsWith('*/', at)) { at += 2; if (--depth === 0) return at }
    else at++
  }
  return text.length
}

/** Where a quoted thing ends whose content begins at a place; a doubled quote stands for one. */
function quoteEnd(text: string, from: number, quote: string, backslashes: boolean): number {
  for (let at = from; at < text.length; at++) {
    if (backslashes && text[at] === '\\') at++
    else if (text[at] === quote) {
      if (text[at + 1] !== quote) return at + 1
      at++
    }
  }
  return text.length
}

/** Where the statement at a place ends, with its words. */
function read(text: string, start: number): Statement & { next: number } {
  const words: Word[] = []
  let depth = 0
  let blocks = 0 // begin atomic … end, with its case … end
  let end = start
  let at = start
  while (at < text.length) {
    const c = text[at]!
    if (c === ';' && depth === 0 && blocks === 0) return { start, end, words, next: at + 1 }
    if (space.test(c)) { at++; continue }
    if (c === '-' && text[at + 1] === '-' || c === '/' && text[at + 1] === '*') { at = commentEnd(text, at); continue }
    if (c === "'") at = quoteEnd(text, at + 1, "'", false)
    else if (c === '"') {
      const close = quoteEnd(text, at + 1, '"', false)
      words.push({ text: text.slice(at + 1, close - 1).replaceAll('""', '"'), quoted: true, depth })
      at = close
    } else if (c === '$' && /^\$([A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/.test(text.slice(at, at + 66))) {
      const tag = /^\$[^$]*\$/.exec(text.slice(at))![0]
      const close = text.indexOf(tag, at + tag.length)
      at = close < 0 ? text.length : close + tag.length
    } else if (wordStart.test(c)) {
      let stop = at + 1
      while (stop < text.length && wordPart.test(text[stop]!)) stop++
      const word = text.slice(at, stop).toLowerCase()
      if (text[stop] === "'" && ['e', 'b', 'x', 'n'].includes(word)) {
        at = quoteEnd(text, stop + 1, "'", word === 'e')
      } else {
        if (word === 'atomic' && words.at(-1)?.text === 'begin') blocks++
        else if (blocks > 0 && word === 'case') blocks++
        else if (blocks > 0 && word === 'end') blocks--
        words.push({ text: word, quoted: false, depth })
        at = stop
      }
    } else if (/[0-9]/.test(c)) {
      while (at < text.length && /[\w.]/.test(text[at]!)) at++
    } else {
      if (c === '(') depth++
      else if (c === ')') depth = Math.max(0, depth - 1)
      else words.push({ text: c, quoted: false, depth })
      at++
    }
    end = at
  }
  return { start, end, words, next: text.length }
}

/** The statements of a text, in their order. */
export function split(text: string): Statement[] {
  const found: Statement[] = []
  for (let at = 0; at < text.length;) {
    const c = text[at]!
    if (space.test(c) || c === ';') at++
    else if (text.startsWith('--', at) || text.startsWith('/*', at)) at = commentEnd(text, at)
    else {
      const { next, ...statement } = read(text, at)
      found.push(statement)
      at = next
      // The lines of "copy … from stdin" go on until "\.".
      const words = statement.words.map((word) => word.text)
      if (words[0] === 'copy' && words.some((word, i) => word === 'from' && words[i + 1] === 'stdin')) {
        const data = /^\\\.\r?$/m.exec(text.slice(at))
        if (data) at += data.index + data[0].length
      }
    }
  }
  return found
}

/** The statement in which a place is, or else the one before it on the same line, or the next. */
export function statementAt(statements: readonly Statement[], text: string, at: number): Statement | undefined {
  let before: Statement | undefined
  for (const statement of statements) {
    if (at < statement.start) {
      return before && !text.slice(before.end, at).includes('\n') ? before : before && !/\n\s*\n/.test(text.slice(before.end, at)) ? before : statement
    }
    if (at <= statement.end) return statement
    before = statement
  }
  return before
}

interface TableName { schema: string | undefined, name: string, alias: string | undefined }

const notAlias = new Set(['on', 'using', 'where', 'set', 'join', 'left', 'right', 'inner', 'full', 'cross', 'natural', 'group', 'order', 'limit', 'offset', 'having', 'union', 'except', 'intersect', 'returning', 'values', 'select', 'default', 'for', 'window', 'lateral', 'tablesample', 'fetch', 'when', 'as', 'from', 'overriding', 'do'])

/** The tables that a statement names after from, join, update, into, using and table. */
export function tablesOf(statement: Statement): TableName[] {
  const { words } = statement
  const found: TableName[] = []
  const name = (i: number) => words[i] && (words[i].quoted || wordStart.test(words[i].text) && !notAlias.has(words[i].text)) ? words[i].text : undefined
  for (let i = 0; i < words.length; i++) {
    if (words[i]!.quoted || !['from', 'join', 'update', 'into', 'using', 'table'].includes(words[i]!.text)) continue
    let at = i + 1
    for (;;) {
      while (words[at] && !words[at]!.quoted && ['only', 'lateral', 'if', 'exists'].includes(words[at]!.text)) at++
      let table = name(at)
      if (table === undefined) break
      let schema: string | undefined
      at++
      if (words[at]?.text === '.' && name(at + 1) !== undefined) {
        schema = table
        table = name(at + 1)!
        at += 2
      }
      if (words[at]?.text === 'as' && !words[at]!.quoted) at++
      const alias = name(at)
      if (alias !== undefined) at++
      found.push({ schema, name: table, alias })
      if (words[i]!.text !== 'from' || words[at]?.text !== ',' || words[at]!.depth !== words[i]!.depth) break
      at++
    }
  }
  return found
}

/** Whether running a statement once more changes nothing: it only reads, as far as its words tell. */
export function onlyReads(statement: Statement): boolean {
  const first = statement.words[0]?.text
  return (first === 'select' || first === 'with' || first === 'values' || first === 'table' || first === 'show')
    && !statement.words.some((word) => !word.quoted && ['insert', 'update', 'delete', 'merge', 'into', 'nextval', 'setval'].includes(word.text))
}
