// Batches and idempotency keys, through the helper that the README shows.
import { after, before, test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { known, start } from './server.mjs'

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
const [helper] = [...readme.matchAll(/```js\n(.*?)```/gs)].map((found) => found[1]).filter((code) => code.includes('export async function batch'))
const { batch, ref } = await import(`data:text/javascript,${encodeURIComponent(helper)}`)

let basalt, headers

before(async () => {
  basalt = await start('--rest-idempotency')
  await basalt.sql(`
    create table orders (id bigint generated always as identity primary key, customer text not null, state text not null default 'open', at timestamptz);
    create table items (order_id bigint not null references orders, sku text not null, "a/b~c" jsonb, primary key (order_id, sku));
  `)
  await known(basalt, 'items')
  headers = { apikey: basalt.keys.ANON_KEY }
})

after(() => basalt?.stop())

test('the helper is short', () => {
  assert.ok(helper.trim().split('\n').length <= 10)
})

test('later operations use what earlier ones returned', async () => {
  const answers = await batch(basalt.url, headers, [
    { method: 'POST', path: '/orders?select=id,at', prefer: 'return=representation', body: { customer: 'Ada', at: new Date('2024-01-02T03:04:05Z') } },
    { method: 'POST', path: '/items', body: [{ order_id: ref(0, 0, 'id'), sku: 'pen', 'a/b~c': null }, { order_id: ref(0, 0, 'id'), sku: 'ink', 'a/b~c': ref(0, 0) }] },
    { method: 'PATCH', path: `/orders?id=eq.${ref(0, 0, 'id')}`, body: { state: 'placed' } },
    { method: 'GET', path: `/orders?id=in.(${ref(0, 0, 'id')})&select=state,items(sku,extra:"a/b~c")&items.order=sku` },
  ])
  assert.deepEqual(answers.map(({ status }) => status), [201, 201, 204, 200])
  const [{ id, at }] = answers[0].body
  assert.equal(new Date(at).getTime(), Date.UTC(2024, 0, 2, 3, 4, 5))
  assert.deepEqual(answers[3].body, [{ state: 'placed', items: [{ sku: 'ink', extra: { id, at } }, { sku: 'pen', extra: null }] }])
})

test('all is undone when one fails, which is named', async () => {
  const failed = batch(basalt.url, headers, [
    { method: 'POST', path: '/orders', body: { customer: 'Bob' } },
    { method: 'POST', path: '/items', body: { order_id: 0, sku: 'x' } },
  ])
  await assert.rejects(failed, (error) => error.code === '23503' && error.index === 1)
  const { rows } = await basalt.sql("select from orders where customer = 'Bob'")
  assert.equal(rows.length, 0)
})

test('a batch or a write that is sent again is done once', async () => {
  const key = { ...headers, 'idempotency-key': randomUUID() }
  const operations = [{ method: 'POST', path: '/orders?select=id', prefer: 'return=representation', body: { customer: 'Cy' } }]
  const answers = await Promise.all([1, 2, 3].map(() => batch(basalt.url, key, operations)))
  for (const again of answers) assert.deepEqual(again, answers[0])
  await assert.rejects(batch(basalt.url, key, [...operations, ...operations]), (error) => error.code === 'BSLT201')

  const once = randomUUID()
  const send = () => basalt.client().from('orders').insert({ customer: 'Cy' }).select('id').single().setHeader('idempotency-key', once)
  const first = await send()
  assert.ifError(first.error)
  assert.deepEqual((await send()).data, first.data)
  const { rows } = await basalt.sql("select from orders where customer = 'Cy'")
  assert.equal(rows.length, 2)
})
