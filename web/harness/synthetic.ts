// A source of made-up rows that is the same at every reading, for the tests of the grid in a browser.
import type { Column, Row, Sort, Source, Value } from '../src/grid/types.ts'

const cities = ['Kyōto', 'São Paulo', 'Zürich', 'Reykjavík', 'Oslo', 'Al-Qāhira', 'Kraków', 'Đà Nẵng', 'Lomé', 'Port Louis']
const moods = ['calm', 'busy', 'closed', 'under repair']

const named: Column[] = [
  { name: 'id', type: 'int8', kind: 'integer', nullable: false, key: true, default: "nextval('places_id_seq')" },
  { name: 'name', type: 'text', kind: 'text', nullable: false },
  { name: 'city_id', type: 'int4', kind: 'integer', nullable: true, reference: 'public.cities.id' },
  { name: 'population', type: 'numeric', kind: 'numeric', nullable: true },
  { name: 'open', type: 'bool', kind: 'boolean', nullable: true, default: 'true' },
  { name: 'mood', type: 'mood', kind: 'enum', nullable: true, enumValues: moods },
  { name: 'tags', type: 'text[]', kind: 'array', nullable: true, element: { kind: 'text', type: 'text' } },
  { name: 'details', type: 'jsonb', kind: 'json', nullable: true },
  { name: 'opened_on', type: 'date', kind: 'date', nullable: true },
  { name: 'seen_at', type: 'timestamptz', kind: 'timestamp', nullable: false, default: 'now()' },
  { name: 'token', type: 'uuid', kind: 'uuid', nullable: false, default: 'gen_random_uuid()' },
  { name: 'photo', type: 'bytea', kind: 'bytea', nullable: true },
  { name: 'note', type: 'text', kind: 'text', nullable: true },
  { name: 'search', type: 'tsvector', kind: 'other', nullable: true, readonly: true },
]

export function columnsOf(count: number): Column[] {
  const more = Array.from({ length: Math.max(0, count - named.length) }, (_, i): Column => {
    return { name: `measure_${i + 1}`, type: 'float8', kind: 'float', nullable: true }
  })
  return [...named, ...more].slice(0, count)
}

function valueAt(column: Column, row: number): Value {
  const n = row + 1
  switch (column.name) {
    case 'id': return String(n)
    case 'name': return row === 3 ? 'a\u202egnp.exe\u0007' : row === 4 ? 'two\nlines\tand a tab' : row === 5 ? '<img src=x onerror=alert(1)>' : `Place ${n}`
    case 'city_id': return row % 11 === 7 ? null : String((row % cities.length) + 1)
    case 'population': return row === 0 ? '9007199254740993.000000001' : (BigInt(n) * 7919n % 10000000n).toString() + '.' + String(n % 100).padStart(2, '0')
    case 'open': return row % 7 === 3 ? null : row % 3 === 0 ? 'f' : 't'
    case 'mood': return moods[row % moods.length]!
    case 'tags': return row % 5 === 0 ? '{}' : `{park,"old town",n${n % 9}}`
    case 'details': return `{"floor": ${n % 12}, "lift": ${n % 2 === 0}, "big": 12345678901234567890}`
    case 'opened_on': return `20${String(n % 26).padStart(2, '0')}-0${(n % 9) + 1}-1${n % 10}`
    case 'seen_at': return `2026-03-0${(n % 9) + 1} 1${n % 10}:30:00.${String(n % 1000).padStart(3, '0')}+01`
    case 'token': return `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`
    case 'photo': return row % 4 === 0 ? null : '\\x' + n.toString(16).padStart(8, '0').repeat(8)
    case 'note': return row === 1 ? 'x'.repeat(5_000_000) : row % 6 === 0 ? '' : row % 6 === 1 ? null : row === 8 ? 'مرحبا بالعالم' : `Note of place ${n}`
    case 'search': return `'place':1 '${n}':2`
    default: return n % 13 === 0 ? null : (n * 0.37).toFixed(3)
  }
}

export interface Server {
  /** Values that were saved, by row and column name. */
  saved: Map<number, Map<string, Value>>
  /** Milliseconds that a reading takes. */
  delay: number
  /** While set, readings fail with it. */
  broken: string | null
  /** How many readings are on the way, and how many were given up. */
  open: number
  aborted: number
}

export function synthetic(columns: Column[], count: number, sort: readonly Sort[], server: Server): Source {
  const backwards = sort[0]?.descending ?? false
  return {
    count,
    estimated: false,
    fetch: (from, to, signal) =>
      new Promise<Row[]>((resolve, reject) => {
        server.open++
        const timer = setTimeout(() => {
          server.open--
          if (server.broken) return reject(new Error(server.broken))
          resolve(
            Array.from({ length: Math.min(to, count) - from }, (_, i) => {
              const row = backwards ? count - 1 - from - i : from + i
              const saved = server.saved.get(row)
              return columns.map((c) => (saved?.has(c.name) ? saved.get(c.name)! : valueAt(c, row)))
            }),
          )
        }, server.delay)
        signal.addEventListener('abort', () => {
          clearTimeout(timer)
          server.open--
          server.aborted++
          reject(signal.reason as Error)
        })
      }),
  }
}

export const cityNames = cities
