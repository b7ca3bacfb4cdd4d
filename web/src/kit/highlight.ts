// Colours short pieces of code for reading. Editing has an editor of its own.

export type Language = 'sql' | 'json' | 'js' | 'shell' | 'text'
interface Piece { text: string, kind: 'keyword' | 'string' | 'number' | 'comment' | 'plain' }

const sqlWords = 'add|all|alter|and|any|as|asc|between|by|cascade|case|check|column|comment|commit|concurrently|constraint|create|cross|cycle|database|default|delete|desc|distinct|do|domain|drop|else|enable|end|enum|except|exists|explain|extension|false|for|force|foreign|from|full|function|generated|grant|group|having|identity|if|ilike|in|index|inner|insert|intersect|into|is|join|key|language|lateral|left|level|like|limit|materialized|natural|not|null|of|offset|on|only|or|order|outer|over|partition|policy|primary|procedure|public|recursive|references|rename|replace|returning|returns|revoke|right|rollback|row|rows|schema|security|select|sequence|set|start|stored|table|temporary|then|to|transaction|trigger|true|truncate|type|union|unique|update|using|values|view|when|where|window|with|write'
const jsWords = 'async|await|const|export|false|for|from|function|if|import|let|new|null|return|throw|true|type|undefined|var|void|final|print|try|val|in|def|None|True|False'

const rules: Record<Exclude<Language, 'text'>, RegExp> = {
  sql: new RegExp(`(?<comment>--[^\\n]*|/\\*[^]*?\\*/)|(?<string>'(?:[^']|'')*'|\\$(\\w*)\\$[^]*?\\$\\3\\$)|(?<skip>"(?:[^"]|"")*")|(?<number>\\b\\d+(?:\\.\\d+)?\\b)|(?<keyword>\\b(?:${sqlWords})\\b)`, 'gi'),
  json: /(?<string>"(?:[^"\\]|\\.)*")|(?<number>-?\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b)|(?<keyword>\b(?:true|false|null)\b)/gi,
  js: new RegExp(`(?<comment>//[^\\n]*|#[^\\n]*)|(?<string>'(?:[^'\\\\\\n]|\\\\.)*'|"(?:[^"\\\\\\n]|\\\\.)*"|\`[^\`]*\`)|(?<number>\\b\\d+(?:\\.\\d+)?\\b)|(?<keyword>\\b(?:${jsWords})\\b)`, 'g'),
  shell: /(?<comment>(?<=^|\s)#[^\n]*)|(?<string>'[^']*'|"(?:[^"\\]|\\.)*")|(?<keyword>(?<=\s)--?[a-zA-Z][\w-]*)/g,
}

/** Cuts code into pieces of one colour; together they are the text. */
export function highlight(text: string, language: Language): Piece[] {
  if (language === 'text' || text.length > 50_000) return [{ text, kind: 'plain' }]
  const pieces: Piece[] = []
  let at = 0
  for (const found of text.matchAll(rules[language])) {
    const kind = (['comment', 'string', 'number', 'keyword'] as const).find((name) => found.groups?.[name] !== undefined)
    if (!kind) continue
    if (found.index > at) pieces.push({ text: text.slice(at, found.index), kind: 'plain' })
    pieces.push({ text: found[0], kind })
    at = found.index + found[0].length
  }
  if (at < text.length) pieces.push({ text: text.slice(at), kind: 'plain' })
  return pieces
}
