// PostgreSQL's plan of a request as a tree of steps to read.

export interface Step {
  name: string
  on: string
  details: { label: string, value: string }[]
  rows: string
  actual: string
  cost: string
  /** The time of the step with what is below it, in ms as PostgreSQL writes it; "" when it was not measured. */
  time: string
  steps: Step[]
}
interface Explained { top: Step, planning: string, execution: string }

function object(value: unknown): Record<string, unknown> { return typeof value === 'object' && value !== null ? value as Record<string, unknown> : {} }
function text(value: unknown): string { return value === undefined || value === null ? '' : Array.isArray(value) ? value.map(text).join(', ') : typeof value === 'object' ? JSON.stringify(value) : String(value) }

const told = ['Index Cond', 'Recheck Cond', 'Filter', 'Hash Cond', 'Merge Cond', 'Join Filter', 'Sort Key', 'Group Key', 'Function Call', 'One-Time Filter', 'Rows Removed by Filter', 'Shared Hit Blocks', 'Shared Read Blocks']

function step(value: unknown): Step {
  const node = object(value)
  const loops = node['Actual Loops']
  const relation = [node.Schema, node['Relation Name'] ?? node['Function Name'] ?? node['CTE Name']].filter(Boolean).map(text).join('.')
  const alias = text(node.Alias)
  return {
    name: [node['Join Type'] && node['Join Type'] !== 'Inner' ? text(node['Join Type']) : '', text(node['Node Type']), node.Operation ? text(node.Operation) : ''].filter(Boolean).join(' '),
    on: [relation, alias && alias !== text(node['Relation Name']) ? alias : '', node['Index Name'] ? `by ${text(node['Index Name'])}` : ''].filter(Boolean).join(' '),
    details: told.filter((label) => node[label] !== undefined && !(label.endsWith('Blocks') && node[label] === 0)).map((label) => ({ label, value: text(node[label]) })),
    rows: text(node['Plan Rows']), actual: node['Actual Rows'] === undefined ? '' : text(node['Actual Rows']) + (loops === undefined || loops === 1 ? '' : ` × ${text(loops)}`),
    cost: text(node['Total Cost']), time: text(node['Actual Total Time']),
    steps: Array.isArray(node.Plans) ? node.Plans.map(step) : [],
  }
}

/** Reads what EXPLAIN (FORMAT JSON) gives; undefined for a request of which there is no plan. */
export function explained(value: unknown): Explained | undefined {
  const first = object(Array.isArray(value) ? value[0] : value)
  if (first.Plan === undefined) return undefined
  return { top: step(first.Plan), planning: text(first['Planning Time']), execution: text(first['Execution Time']) }
}
