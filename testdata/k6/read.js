// Reads of bench_item and bench_part as the owner of the rows.
//
// KIND is pk, list20, embed20x5, list1000, or several of them with commas; CALLERS how many callers at once, such as 5,50
// or "all" for 1 to 1,000; SECONDS how long each. The requests are those of `basalt bench`.
import { fail } from 'k6'
import http from 'k6/http'
import { answered, callers, named, url, whole } from './server.js'
import { sweep, table, tagOf } from './scenarios.js'

const seconds = whole('SECONDS', 2)
const all = ['pk', 'list20', 'embed20x5', 'list1000']
const kinds = __ENV.KIND ? __ENV.KIND.split(',') : all
for (const kind of kinds) if (!all.includes(kind)) fail(`KIND must be one of ${all.join(', ')}, not ${kind}`)
const stocks = 100 // different values of bench_item.stock
const points = kinds.flatMap((kind) => callers('1,10,50').map((n) => ({ kind, callers: n })))

export const options = sweep(points, seconds)

export function handleSummary(data) {
  return table(data, points.map(tagOf), seconds)
}

/** Gives the first id and the last. All between are there, or the checks could not tell that a row is missing. */
export function setup() {
  const count = get('setup', 'select=id&limit=1', { Prefer: 'count=exact' })
  const [first, last] = ['asc', 'desc'].map((way) => get('setup', `select=id&order=id.${way}&limit=1`).json('0.id'))
  const total = Number((count.headers['Content-Range'] || '').split('/')[1])
  if (!(total >= 1000) || last - first + 1 !== total) fail(`TOKEN sees ${total} rows of bench_item with ids from ${first} to ${last}: 1000 or more without a gap are needed`)
  return { first, last }
}

export function pk(ids) {
  const id = start(ids, 1)
  answered(get('pk', `id=eq.${id}`), 'pk', 200, 'the row asked for', (r) => r.json('#') === 1 && r.json('0.id') === id)
}

export function list20() {
  const stock = Math.floor(Math.random() * stocks)
  answered(get('list20', `stock=eq.${stock}&order=price&limit=20`), 'list20', 200, '20 rows, filtered, in order', (r) => {
    const rows = r.json()
    return rows.length === 20 && rows.every((row, i) => row.stock === stock && (i === 0 || row.price >= rows[i - 1].price))
  })
}

// The second half of the items has five parts each.
export function embed20x5(ids) {
  const id = start({ first: Math.ceil((ids.first + ids.last) / 2), last: ids.last }, 20)
  answered(get('embed20x5', `select=id,name,bench_part(id,name,weight,amount,item_id)&order=id&limit=20&id=gte.${id}`), 'embed20x5', 200, '20 parents with 5 children each', (r) => {
    const rows = r.json()
    return rows.length === 20 && rows.every((row, i) => row.id === id + i && row.bench_part.length === 5 && row.bench_part.every((part) => part.item_id === row.id))
  })
}

// Its rows are counted by k6's own reader: to make JavaScript values of them all would cost more than the server's work.
export function list1000(ids) {
  const id = start(ids, 1000)
  answered(get('list1000', `order=id&limit=1000&id=gte.${id}`), 'list1000', 200, '1000 rows from the one asked for', (r) =>
    r.json('#') === 1000 && r.json('0.id') === id && r.json('999.id') === id + 999)
}

// A random id that at least so many rows follow, itself among them.
function start({ first, last }, rows) {
  return first + Math.floor(Math.random() * (last - first + 2 - rows))
}

function get(name, query, more) {
  return http.get(`${url}/rest/v1/bench_item?${query}`, named(name, more))
}
