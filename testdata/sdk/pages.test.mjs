// Pages by key: an app follows Link headers through a large table, with fetch and with the client library.
import { after, before, test } from 'node:test'
import assert from 'node:assert/strict'
import { known, start } from './server.mjs'

let basalt

before(async () => {
  basalt = await start()
  await basalt.sql(`
    create table readings (
      id int primary key,
      sensor text not null,
      value numeric,
      taken_at timestamptz
    );
    insert into readings
    select g, 'sensor ' || g % 7, case when g % 3 > 0 then g % 50 end,
      case when g % 5 > 0 then timestamptz '2026-01-01' + (g % 100) * interval '1 hour' end
    from generate_series(1, 5000) g;
    grant select on readings to anon;
  `)
  await known(basalt, 'readings')
})

after(() => basalt?.stop())

// All that an app needs: rows of each page until there is no next one.
async function* pages(url, headers) {
  while (url) {
    const answer = await fetch(url, { headers: { ...headers, prefer: 'page=keyset' } })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('preference-applied'), 'page=keyset')
    yield await answer.json()
    const next = answer.headers.get('link')?.match(/^<([^>]+)>; rel="next"$/)
    url = next && new URL(next[1], url)
  }
}

for (const [order, sql] of [
  ['id', 'id'],
  ['taken_at.desc.nullslast,id', 'taken_at desc nulls last, id'],
  ['sensor,value.desc', 'sensor, value desc, id desc'],
]) {
  test(`fetch follows the pages in the order ${order}`, async () => {
    const ids = []
    let count = 0
    for await (const page of pages(`${basalt.url}/rest/v1/readings?select=id&order=${order}&limit=300`, { apikey: basalt.keys.ANON_KEY })) {
      ids.push(...page.map((row) => row.id))
      count++
    }
    const { rows } = await basalt.sql(`select id from readings order by ${sql}`)
    assert.deepEqual(ids, rows.map((row) => row.id))
    assert.equal(count, Math.ceil(5000 / 300))
  })
}

test('the client library pages with its own builder', async () => {
  let link, url
  const client = basalt.client()
  // The library hides response headers, so an app looks at them where it fetches.
  client.rest.fetch = async (address, init) => {
    const answer = await fetch(address, init)
    url = answer.url
    link = answer.headers.get('link')
    return answer
  }
  const ids = []
  let after
  do {
    const request = client.from('readings').select('id').gt('id', 4000).order('sensor').order('id').limit(250).setHeader('prefer', 'page=keyset')
    if (after) request.url.searchParams.set('after', after)
    const { data, error } = await request
    assert.ifError(error)
    ids.push(...data.map((row) => row.id))
    after = link && new URL(link.slice(1, link.indexOf('>')), url).searchParams.get('after')
  } while (after)
  const { rows } = await basalt.sql(`select id from readings where id > 4000 order by sensor, id`)
  assert.deepEqual(ids, rows.map((row) => row.id))
})
