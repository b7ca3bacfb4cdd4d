// What the tester is to try, as the address keeps it.

type Verb = 'select' | 'insert' | 'update' | 'delete'
export type Values = { column: string, value: string | null }[]

interface Trial { role: string, user: string, verb: Verb, filter: string, set: Values, readBack: boolean, claims: string | undefined, run: boolean }

function values(text: string | null): Values {
  try {
    const list: unknown = JSON.parse(text ?? '[]')
    if (!Array.isArray(list)) return []
    return list.filter((one): one is [string, string | null] => Array.isArray(one) && typeof one[0] === 'string' && (one[1] === null || typeof one[1] === 'string'))
      .map(([column, value]) => ({ column, value }))
  } catch {
    return [] // nothing that this screen wrote
  }
}

export function tryKept(query: URLSearchParams): Trial {
  const verb = query.get('verb') ?? ''
  return {
    role: query.get('role') ?? 'authenticated', user: query.get('user') ?? '',
    verb: ['select', 'insert', 'update', 'delete'].includes(verb) ? verb as Verb : 'select',
    filter: query.get('where') ?? '', set: values(query.get('set')), readBack: query.get('back') === 'true',
    claims: query.get('claims') ?? undefined, run: query.get('run') === 'true',
  }
}
