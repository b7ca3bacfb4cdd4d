// What EXPLAIN (format json) says, as a tree with each node's own share of the whole.

/** A node as PostgreSQL writes it. */
type Raw = Record<string, unknown>

export interface PlanNode {
  id: string
  type: string
  /** What it reads: a relation with its alias, an index, a function. */
  target: string
  /** Role among its siblings when it is no plain child: "InitPlan 1", "SubPlan 2", "CTE x". */
  part: string
  depth: number
  /** Estimated rows of all loops, and those that came; the latter only when it was measured. */
  estimated: number
  actual: number | undefined
  loops: number
  /** Milliseconds of the node with what is below it, and of itself. */
  total: number | undefined
  own: number | undefined
  cost: number
  ownCost: number
  /** Of the whole, 0 … 1: of the time when it was measured, else of the cost. */
  share: number
  /** How many times more (positive) or fewer (negative) rows came than were estimated, when that is much. */
  wrong: number
  never: boolean
  /** Pages of 8 KiB found in the cache, read, written; and those of temporary files. */
  hit: number
  read: number
  written: number
  temp: number
  /** Conditions and whatever else is worth a look, in PostgreSQL's own words. */
  facts: readonly (readonly [string, string])[]
  children: readonly PlanNode[]
}

export interface Plan {
  root: PlanNode
  measured: boolean
  planning: number | undefined
  execution: number | undefined
  /** Nodes from the root down, as they are listed. */
  nodes: readonly PlanNode[]
  settings: readonly (readonly [string, string])[]
  triggers: readonly string[]
  raw: unknown
}

/** From which factor on an estimate counts as wrong, and from how many rows. */
const muchWrong = 10
const fewRows = 100

const number = (raw: Raw, key: string) => typeof raw[key] === 'number' ? raw[key] : undefined
const text = (raw: Raw, key: string) => typeof raw[key] === 'string' ? raw[key] : ''
const plain = (value: unknown): string => Array.isArray(value) ? value.map(plain).join(', ') : typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)

const shownElsewhere = new Set([
  'Node Type', 'Plans', 'Parent Relationship', 'Subplan Name', 'Relation Name', 'Schema', 'Alias', 'Index Name', 'Function Name', 'CTE Name', 'Join Type', 'Scan Direction',
  'Startup Cost', 'Total Cost', 'Plan Rows', 'Plan Width', 'Actual Startup Time', 'Actual Total Time', 'Actual Rows', 'Actual Loops', 'Strategy', 'Partial Mode', 'Operation', 'Command', 'Parallel Aware', 'Async Capable', 'Disabled', 'Workers',
])
const isBuffer = (key: string) => /^(Shared|Local|Temp) (Hit|Read|Dirtied|Written) Blocks$/.test(key) || /I\/O (Read|Write) Time$/.test(key)

/** Whether what is below a node may be stopped before its end. */
function stops(raw: Raw, cut: boolean): boolean {
  const type = text(raw, 'Node Type')
  if (type === 'Limit' || text(raw, 'Join Type') === 'Semi' || text(raw, 'Join Type') === 'Anti' || type === 'Merge Join') return true
  return cut && !['Sort', 'Aggregate', 'Hash', 'WindowAgg', 'SetOp', 'Bitmap Heap Scan'].includes(type)
}

function nameOf(raw: Raw): string {
  const type = text(raw, 'Node Type')
  const join = text(raw, 'Join Type')
  const parts: string[] = []
  if (text(raw, 'Partial Mode') && text(raw, 'Partial Mode') !== 'Simple') parts.push(text(raw, 'Partial Mode'))
  if (raw['Parallel Aware'] === true) parts.push('Parallel')
  const strategy = { Hashed: 'Hash ', Sorted: 'Group ', Mixed: 'Mixed ' }[text(raw, 'Strategy')] ?? ''
  if (type === 'Aggregate') parts.push(strategy + type)
  else if (type === 'SetOp') parts.push((strategy === 'Hash ' ? 'Hashed ' : '') + type + (text(raw, 'Command') && ` ${text(raw, 'Command')}`))
  else if (type === 'ModifyTable') parts.push(text(raw, 'Operation') || type)
  else if (join && join !== 'Inner') parts.push(type.replace(/ ?(Join)?$/, '') + ` ${join} Join`)
  else if (type === 'Nested Loop') parts.push('Nested Loop')
  else if (text(raw, 'Scan Direction') === 'Backward') parts.push(`${type} Backward`)
  else parts.push(type)
  return parts.join(' ')
}

function targetOf(raw: Raw): string {
  const schema = text(raw, 'Schema')
  const name = text(raw, 'Relation Name') || text(raw, 'Function Name') || text(raw, 'CTE Name')
  const alias = text(raw, 'Alias')
  const whole = [schema && name ? `${schema}.${name}` : name, alias && alias !== name ? alias : ''].filter(Boolean).join(' ')
  const index = text(raw, 'Index Name')
  return index ? [whole, `using ${index}`].filter(Boolean).join(' ') : whole
}

/** Reads a plan; throws when it is none. */
export function readPlan(given: unknown): Plan {
  const whole = (Array.isArray(given) ? given[0] : given) as Raw | undefined
  const top = whole?.Plan as Raw | undefined
  if (!whole || !top) throw new Error('PostgreSQL gave no plan for this statement.')
  const nodes: PlanNode[] = []
  const measured = number(top, 'Actual Loops') !== undefined
  const execution = number(whole, 'Execution Time')
  const rootTime = (number(top, 'Actual Total Time') ?? 0) * (number(top, 'Actual Loops') ?? 1)
  const wholeTime = Math.max(rootTime, 0.001)
  const wholeCost = Math.max(number(top, 'Total Cost') ?? 0, 0.01)

  // `cut`: who is above may have stopped asking, so that fewer rows say nothing of the estimate.
  const build = (raw: Raw, depth: number, id: string, workers: number, cut: boolean): PlanNode => {
    const loops = number(raw, 'Actual Loops') ?? 1
    // Below a Gather each process is a loop, and they run side by side.
    const below = workers > 1 ? Math.min(workers, Math.max(1, loops)) : 1
    const inside = (number(raw, 'Workers Launched') ?? 0) + 1
    const time = number(raw, 'Actual Total Time')
    const total = time === undefined ? undefined : time * loops / below
    const cost = number(raw, 'Total Cost') ?? 0
    const actual = number(raw, 'Actual Rows')
    const estimated = (number(raw, 'Plan Rows') ?? 0)
    const place = nodes.push(undefined as unknown as PlanNode) - 1
    const children = ((raw.Plans ?? []) as Raw[]).map((child, i) => build(child, depth + 1, `${id}.${i}`, raw['Workers Launched'] === undefined ? workers : inside, stops(raw, cut)))
    const used = (of: (node: PlanNode) => number | undefined) => children.reduce((sum, child) => sum + (of(child) ?? 0), 0)
    const own = total === undefined ? undefined : Math.max(0, total - used((child) => child.total))
    const ownCost = Math.max(0, cost - used((child) => child.cost))
    const [came, thought] = [Math.max(1, (actual ?? 0)), Math.max(1, estimated)]
    const factor = came >= thought ? came / thought : -thought / came
    const never = measured && loops === 0
    const buffers = (...keys: string[]) => keys.reduce((sum, key) => sum + (number(raw, key) ?? 0), 0)
    const node: PlanNode = {
      id, depth, type: nameOf(raw), target: targetOf(raw),
      part: text(raw, 'Subplan Name') || (['InitPlan', 'SubPlan'].includes(text(raw, 'Parent Relationship')) ? text(raw, 'Parent Relationship') : ''),
      estimated: estimated * (measured ? Math.max(1, loops) : 1),
      actual: actual === undefined ? undefined : actual * loops,
      loops, total, own, cost, ownCost, never,
      share: measured ? Math.min(1, (own ?? 0) / wholeTime) : Math.min(1, ownCost / wholeCost),
      wrong: measured && !never && !(cut && factor < 0) && Math.abs(factor) >= muchWrong && Math.max(came, thought) * Math.max(1, loops) >= fewRows ? factor : 0,
      hit: buffers('Shared Hit Blocks', 'Local Hit Blocks'), read: buffers('Shared Read Blocks', 'Local Read Blocks'),
      written: buffers('Shared Written Blocks', 'Local Written Blocks'), temp: buffers('Temp Read Blocks', 'Temp Written Blocks'),
      facts: Object.entries(raw).filter(([key]) => !shownElsewhere.has(key) && !isBuffer(key)).filter(([key, value]) => value !== 0 || /Removed/.test(key) === false && !/WAL/.test(key)).map(([key, value]) => [key, plain(value)] as const),
      children,
    }
    nodes[place] = node
    return node
  }
  const root = build(top, 0, '0', 1, false)
  return {
    root, measured, nodes, execution, planning: number(whole, 'Planning Time'),
    settings: Object.entries((whole.Settings ?? {}) as Raw).map(([key, value]) => [key, plain(value)] as const),
    triggers: ((whole.Triggers ?? []) as Raw[]).map((trigger) => `${text(trigger, 'Trigger Name') || text(trigger, 'Constraint Name')}: ${plain(trigger.Time ?? '')} ms, ${plain(trigger.Calls ?? '')} calls`),
    raw: given,
  }
}

/** The plan as psql shows it, near enough to be pasted where people look at plans. */
export function planText(plan: Plan): string {
  const lines: string[] = []
  for (const node of plan.nodes) {
    const indent = node.depth === 0 ? '' : '  '.repeat(node.depth * 3 - 2) + '->  '
    const under = '  '.repeat(node.depth * 3 + 1)
    const raw = rawOf(plan, node.id)
    const fixed = (key: string, digits: number) => (number(raw, key) ?? 0).toFixed(digits)
    if (node.part) lines.push('  '.repeat(Math.max(0, node.depth * 3 - 2)) + node.part)
    const costs = `(cost=${fixed('Startup Cost', 2)}..${fixed('Total Cost', 2)} rows=${number(raw, 'Plan Rows') ?? 0} width=${number(raw, 'Plan Width') ?? 0})`
    const actual = !plan.measured ? '' : node.never ? ' (never executed)'
      : ` (actual time=${fixed('Actual Startup Time', 3)}..${fixed('Actual Total Time', 3)} rows=${number(raw, 'Actual Rows') ?? 0} loops=${node.loops})`
    lines.push(`${indent}${node.type}${node.target ? ` on ${node.target}` : ''}  ${costs}${actual}`)
    for (const [key, value] of node.facts) lines.push(`${under}${key}: ${value}`)
    const buffers = [node.hit && `hit=${node.hit}`, node.read && `read=${node.read}`, node.written && `written=${node.written}`].filter(Boolean).join(' ')
    if (buffers) lines.push(`${under}Buffers: shared ${buffers}`)
    if (node.temp) lines.push(`${under}Buffers: temp ${node.temp}`)
  }
  if (plan.settings.length > 0) lines.push(`Settings: ${plan.settings.map(([key, value]) => `${key} = '${value}'`).join(', ')}`)
  for (const trigger of plan.triggers) lines.push(`Trigger ${trigger}`)
  if (plan.planning !== undefined) lines.push(`Planning Time: ${plan.planning.toFixed(3)} ms`)
  if (plan.execution !== undefined) lines.push(`Execution Time: ${plan.execution.toFixed(3)} ms`)
  return lines.join('\n')
}

function rawOf(plan: Plan, id: string): Raw {
  let raw = ((Array.isArray(plan.raw) ? plan.raw[0] : plan.raw) as Raw).Plan as Raw
  for (const step of id.split('.').slice(1)) raw = (raw.Plans as Raw[])[Number(step)]!
  return raw
}
