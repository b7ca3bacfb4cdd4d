// Reads of bench_item and bench_part as the owner of the rows.
//
// KIND is pk, list, embed, thousand, or several of them with commas; CALLERS how many callers at once, "all" for the
// whole sweep; SECONDS how long each of them.
import { fail } from 'k6'
import http from 'k6/http'
import { answered, callers, named, url, whole } from './server.js'
import { sweep, table, tag } from './scenarios.js'

const seconds = whole('SECONDS', 2)
const kinds = (__ENV.KIND || 'pk,list,embed,thousand').split(',')
for (const kind of kinds) if (!['pk', 'list', 'embed', 'thousand'].includes(kind)) fail(`KIND is pk, list, embed or thousand, not ${kind}`)
const points = kinds.flatMap((kind) => callers('1,10,50').map((n) => ({ kind, callers: n })))

export const options = sweep(points, seconds)

export function handleSummary(data) {
  return table(data, points.map(tag), seconds)
}

/** Which ids there are: all between the first and the last, or the checks could not tell a row that is missing. */
export function setup() {
  const count = get('setup', 'select=id&limit=1', { Prefer: 'count=exact' })
  const [first, last] = ['asc', 'desc'].map((way) => get('setup', `select=id&order=id.${way}&limit=1`).json('0.id'))
  const total = Number((count.headers['Content-Range'] || '').split('/')[1])
  if (!(total >= 1000) || last - first + 1 !== total) fail(`TOKEN sees ${total} rows of bench_item with ids from ${first} to ${last}: 1000 or more without a gap are needed`)
  return { first, last }
}

export function pk(ids) {
  const id = start(ids, 1)
  answered(get('pk', `id=eq.${id}`), 200, 'pk: the row asked for', (r) => r.json('#') === 1 && r.json('0.id') === id)
}

export function list(ids) {
  const id = start(ids, 100)
  answered(get('list', `select=id,name,price,stock,active&id=gte.${id}&active=is.true&order=id&limit=20`), 200, 'list: 20 rows, filtered, in order', (r) => {
    const rows = r.json()
    return rows.length === 20 && rows.every((row, i) => row.active === true && row.id >= id && (i === 0 || row.id > rows[i - 1].id))
  })
}

export function embed(ids) {
  const id = start(ids, 20)
  answered(get('embed', `select=id,name,bench_part(id,item_id,name,amount)&id=gte.${id}&order=id&limit=20&bench_part.order=id&bench_part.limit=5`), 200, 'embed: 20 parents with 5 children each', (r) => {
    const rows = r.json()
    return rows.length === 20 && rows.every((row, i) => row.id === id + i && row.bench_part.length === 5 && row.bench_part.every((part) => part.item_id === row.id))
  })
}

// Its rows are counted by k6's own reader: to make JavaScript values of them all would cost more than the server's work.
export function thousand(ids) {
  const id = start(ids, 1000)
  answered(get('thousand', `id=gte.${id}&order=id&limit=1000`), 200, 'thousand: 1000 rows from the one asked for', (r) =>
    r.json('#') === 1000 && r.json('0.id') === id && r.json('999.id') === id + 999)
}

// A random id that at least so many rows follow, itself among them.
function start({ first, last }, rows) {
  return first + Math.floor(Math.random() * (last - first + 2 - rows))
}

function get(name, query, more) {
  return http.get(`${url}/rest/v1/bench_item?${query}`, named(name, more))
}
