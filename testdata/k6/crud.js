// Writes: each iteration creates a row of bench_entry, changes it and deletes it.
//
// The callers grow from 5 to 50 in SECONDS; CALLERS=2,10 has them grow from 2 to 10.
import { check, fail } from 'k6'
import http from 'k6/http'
import { Counter } from 'k6/metrics'
import { answered, callers, named, url, whole } from './server.js'
import { show, sweep, table } from './scenarios.js'

const entries = `${url}/rest/v1/bench_entry`
const operations = ['create', 'update', 'delete']
const seconds = whole('SECONDS', 120)
const [least, most = least] = callers('5,50')

// A row counts 1 in the second from its creation to its change, and 1 in the third from its creation to its deletion.
const created = new Counter('rows_created')
const unchanged = new Counter('rows_not_updated')
const present = new Counter('rows_not_deleted')

export const options = sweep([], seconds)
options.scenarios.crud = {
  executor: 'ramping-vus',
  startVUs: least,
  stages: [{ duration: `${seconds}s`, target: most }],
  gracefulStop: '30s',
}
Object.assign(options.thresholds, { rows_created: ['count>0'], rows_not_updated: ['count==0'], rows_not_deleted: ['count==0'] })
for (const operation of operations) show(options, `name:${operation}`)

export function handleSummary(data) {
  const [all, notUpdated, notDeleted] = ['rows_created', 'rows_not_updated', 'rows_not_deleted']
    .map((name) => (data.metrics[name] ? data.metrics[name].values.count : 0))
  return table(data, operations.map((operation) => `name:${operation}`), seconds,
    `rows: ${all} created, ${all - notUpdated} updated, ${all - notDeleted} deleted`)
}

/** Gives the mark that all rows of this run carry. */
export function setup() {
  const run = crypto.randomUUID()
  const before = http.get(`${entries}?run=eq.${run}&select=id`, named('setup'))
  if (before.status !== 200) fail(`TOKEN cannot read bench_entry: ${before.status} ${before.body}`)
  return run
}

export default function (run) {
  const row = { run, body: `${__VU}-${__ITER}`, amount: 1 }
  const creation = http.post(entries, JSON.stringify(row), writing('create'))
  if (!answered(creation, 'create', 201, 'the row that was sent', (r) => holds(r, row))) return
  created.add(1)
  unchanged.add(1)
  present.add(1)
  row.id = creation.json('0.id')
  row.amount = 2
  const change = http.patch(`${entries}?id=eq.${row.id}`, '{"amount":2}', writing('update'))
  if (answered(change, 'update', 200, 'the row with its change', (r) => holds(r, row))) unchanged.add(-1)
  const deletion = http.del(`${entries}?id=eq.${row.id}`, null, writing('delete'))
  if (answered(deletion, 'delete', 200, 'the row as it was', (r) => holds(r, row))) present.add(-1)
}

/** A row that is left was lost to its caller or written twice: it fails the run and is cleared away. */
export function teardown(run) {
  const after = http.get(`${entries}?run=eq.${run}&select=id`, named('teardown'))
  check(after, { 'no row of this run is left': (r) => r.status === 200 && r.json('#') === 0 })
  http.del(`${entries}?run=eq.${run}`, null, named('teardown'))
}

function writing(name) {
  return named(name, { Prefer: 'return=representation' })
}

// Whether an answer is one row with these values.
function holds(response, row) {
  const rows = response.json()
  return rows.length === 1 && Object.keys(row).every((column) => rows[0][column] === row[column])
}
