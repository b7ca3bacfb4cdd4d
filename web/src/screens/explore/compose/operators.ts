// Which operators suit a column, by the category of its type (pg_type.typcategory).

interface Operator { op: string, label: string }

const equal: Operator[] = [{ op: 'eq', label: '= equals' }, { op: 'neq', label: '≠ differs from' }]
const ordered: Operator[] = [{ op: 'gt', label: '> greater than' }, { op: 'gte', label: '≥ at least' }, { op: 'lt', label: '< less than' }, { op: 'lte', label: '≤ at most' }]
const among: Operator[] = [{ op: 'in', label: 'in a list' }, { op: 'is', label: 'is (null, true …)' }, { op: 'isdistinct', label: 'is distinct from' }]
const likeness: Operator[] = [{ op: 'like', label: 'like (* any text)' }, { op: 'ilike', label: 'like, any case' }, { op: 'match', label: '~ regular expression' }, { op: 'imatch', label: '~* any case' }]
const search: Operator[] = [{ op: 'fts', label: 'full text' }, { op: 'plfts', label: 'full text, plain' }, { op: 'phfts', label: 'full text, phrase' }, { op: 'wfts', label: 'full text, web' }]
const containing: Operator[] = [{ op: 'cs', label: '@> contains' }, { op: 'cd', label: '<@ contained in' }]
const overlap: Operator[] = [{ op: 'ov', label: '&& overlaps' }]
const ranges: Operator[] = [{ op: 'sl', label: '<< left of' }, { op: 'sr', label: '>> right of' }, { op: 'nxr', label: '&< not right of' }, { op: 'nxl', label: '&> not left of' }, { op: 'adj', label: '-|- adjacent to' }]

export function operatorsFor(type: string, category: string): Operator[] {
  if (type === 'tsvector') return [...search, { op: 'is', label: 'is (null)' }]
  if (type === 'json' || type === 'jsonb') return [...(type === 'jsonb' ? [...equal, ...containing] : []), { op: 'is', label: 'is (null)' }]
  switch (category) {
    case 'A': return [...containing, ...overlap, ...equal, { op: 'is', label: 'is (null)' }]
    case 'R': return [...containing, ...overlap, ...ranges, ...equal, { op: 'is', label: 'is (null)' }]
    case 'B': return [{ op: 'is', label: 'is (null, true …)' }, ...equal]
    case 'S': return [...equal, ...likeness, ...among, ...ordered, ...search]
    case 'E': return [...equal, ...among, ...ordered]
    default: return [...equal, ...ordered, ...among]
  }
}

/** All there are, for a filter whose operator the column would not be offered. */
export const everyOperator: Operator[] = [...equal, ...ordered, ...among, ...likeness, ...search, ...containing, ...overlap, ...ranges]
