// Downloads of all rows under the filters, as a stream.
import { address } from '../../app/api.ts'
import { viewAs } from '../../app/viewas.svelte.ts'
import type { RelationBody } from '../../generated/admin.ts'
import type { Column, Sort } from '../../grid/types.ts'
import type { MenuItem } from '../../kit/menu.ts'
import { restName } from '../../app/restname.ts'
import type { Filter } from './filters.ts'
import { conditions, order } from './rest.ts'

/** The address from which rows are downloaded. */
function exportAddress(relation: RelationBody, columns: readonly Column[], filters: readonly Filter[], sort: readonly Sort[], format: string): string {
  const query = new URLSearchParams([['select', columns.map(({ name }) => restName(name)).join(',')], ...conditions(filters), ...order(relation, sort)])
  return address(`/export/${encodeURIComponent(relation.schema)}/${encodeURIComponent(relation.name)}`, {
    format, query: query.toString(), role: viewAs.viewer?.role, user: viewAs.viewer?.user,
  })
}

export function exportItems(relation: RelationBody, columns: readonly Column[], filters: readonly Filter[], sort: readonly Sort[]): MenuItem[] {
  const run = (format: string) => () => {
    const link = document.createElement('a')
    link.href = exportAddress(relation, columns, filters, sort, format)
    link.download = ''
    link.click()
  }
  return [
    { kind: 'heading', label: filters.length > 0 ? 'All rows that match' : 'All rows' },
    { label: 'CSV', icon: 'file-text', hint: 'spreadsheets', run: run('csv') },
    { label: 'JSON', icon: 'file-json', hint: 'one array', run: run('json') },
    { label: 'NDJSON', icon: 'file-code', hint: 'a row a line', run: run('ndjson') },
  ]
}
