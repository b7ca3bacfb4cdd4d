// The API screen: what is offered to whom, composing requests, their code, answer, SQL and plan.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expectAccessible, expectNoAxeViolations, expectNoSidewaysScroll, settled, start, until } from './world.mjs'

const xss = `<img src=x onerror="document.title='owned'">`
let world
before(async () => {
  world = await start({ flags: ['--rest-aggregates'] })
  await world.sql(`
    create type mood as enum ('glad', 'sad');
    create table authors (id bigint generated always as identity primary key, name text not null, editor bigint references authors (id));
    create table books (
      id bigint primary key, title text not null, author bigint not null references authors (id), second bigint references authors (id),
      price numeric, mood mood, tags text[], during tstzrange, data jsonb, out boolean default false
    );
    comment on table books is '${xss.replaceAll("'", "''")}';
    create table secrets (id int primary key, owner uuid);
    alter table secrets enable row level security;
    create table "we ird, ""table""" (id int primary key, "a b" text, "<svg onload=alert(1)>" text);
    create table "odd name" ("Größe" int primary key, "a.b" text, "q""uote" text, "x,y" text unique);
    create table "a.b" ("Id" int primary key, "Odd Ref" int references "odd name" ("Größe"));
    create table "Größe" ("Größe" int primary key, "a.b" int references "a.b" ("Id"));
    create view cheap as select id, title from books where price < 10;
    insert into authors (name) values ('Ada'), ('Grace');
    insert into books (id, title, author, second, price, mood, tags, data) values
      (9007199254740993, 'Notes', 1, 2, 12.50, 'glad', '{a,b}', '{"k": 1}'), (2, '${xss.replaceAll("'", "''")}', 2, null, 7, 'sad', '{}', null);
    insert into "we ird, ""table""" values (1, 'x', 'y');
    insert into "odd name" values (7, 'p', 'q', 'r');
    insert into "a.b" values (1, 7);
    insert into "Größe" values (3, 1);
    create function add(a int, b int default 2) returns int language sql immutable as $$ select a + b $$;
    create function books_of(author_id bigint) returns setof books language sql stable as $$ select * from books where author = author_id $$;
    create function wipe() returns void language sql as $$ delete from books $$;
    grant select, insert, update, delete on authors, books, cheap, secrets, "we ird, ""table""", "odd name", "a.b", "Größe" to anon, authenticated, service_role;
    revoke delete on authors from anon;
    revoke execute on function wipe() from public, anon;
  `)
  // The server has seen the change once the API knows the last function.
  await until('the API knows the function', async () => (await fetch(`${world.url}/rest/v1/rpc/add?a=1`, { headers: { apikey: world.keys.ANON_KEY } })).status === 200)
})
after(() => world?.stop())

const address = (path, request, more = {}) => `${path}?${new URLSearchParams({ ...(request ? { r: JSON.stringify(request) } : {}), ...more })}`
const shownURL = (page) => page.getByRole('region', { name: 'URL', exact: true }).innerText()

test('the overview tells what each role may do and gives types and descriptions', { timeout: 60_000 }, async () => {
  const page = await world.open('/explore')
  await page.getByRole('row', { name: /authors.*select ?: Allowed.*delete ?: Not granted/ }).waitFor()
  await page.getByRole('row', { name: /secrets.*select ?: Granted, but no policy/ }).waitFor()
  await page.getByRole('row', { name: /wipe.*no grant/ }).waitFor()
  const [types] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'TypeScript types' }).click()])
  assert.equal(types.suggestedFilename(), 'database.types.ts')
  const [openapi] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'OpenAPI' }).click()])
  assert.equal(openapi.suggestedFilename(), 'openapi.json')
  assert.ok((await page.locator('main').innerText()).includes(world.keys.ANON_KEY))
  await page.getByRole('region', { name: 'Tables and views of public' }).getByRole('link', { name: 'books' }).click()
  await page.getByRole('heading', { name: 'public.books' }).waitFor()
  await world.close(page)
})

test('a read is composed, run as a role, and kept in the address', { timeout: 90_000 }, async () => {
  const page = await world.open('/explore/public/books')
  await page.getByRole('checkbox', { name: 'id', exact: true }).check()
  await page.getByRole('checkbox', { name: 'title' }).check()
  await page.getByRole('button', { name: 'Add a condition' }).click()
  const condition = page.getByRole('group', { name: 'Condition 1 on books' })
  await condition.getByRole('combobox', { name: 'Column' }).fill('price')
  await page.keyboard.press('Enter')
  await condition.getByRole('combobox', { name: 'Operator' }).selectOption('gt')
  await condition.getByRole('textbox', { name: 'Value' }).fill('10')
  await page.getByRole('button', { name: 'Embed a relation' }).click()
  await page.getByRole('menuitem', { name: /authors !books_author_fkey/ }).click()
  await page.getByRole('switch', { name: /Only rows that have one/ }).check()
  await page.waitForFunction(() => new URLSearchParams(location.search).get('r')?.includes('"inner":true'))
  assert.match(await shownURL(page), /\/rest\/v1\/books\?select=id,title,authors!books_author_fkey!inner\(\*\)&price=gt\.10&limit=20$/)
  assert.match(await page.getByRole('region', { name: 'Code', exact: true }).innerText(), /\.select\('id,title,authors!books_author_fkey!inner\(\*\)'\)\s+\.gt\('price', 10\)/)

  await page.reload()
  await settled(page)
  await page.getByRole('tab', { name: 'Result' }).click()
  await page.getByRole('button', { name: 'Run as database owner' }).click()
  const answer = page.getByRole('region', { name: 'Answer' })
  await answer.waitFor()
  assert.match(await answer.innerText(), /9007199254740993/) // as PostgreSQL wrote it
  await expectNoAxeViolations(page)

  await page.getByRole('tab', { name: 'SQL' }).click()
  await page.getByRole('region', { name: 'SQL' }).waitFor()
  assert.match(await page.getByRole('region', { name: 'SQL' }).innerText(), /from public\.books|"public"\."books"/i)
  await page.getByRole('list', { name: 'Parameters' }).getByText('10', { exact: true }).waitFor()
  await expectNoAxeViolations(page)
  await page.getByRole('tab', { name: 'Plan' }).click()
  await page.getByText(/rows expected/).first().waitFor()
  await page.getByRole('switch', { name: /Measure/ }).check()
  await page.getByText(/planned in/).waitFor()
  await expectNoAxeViolations(page)
  await world.close(page)
})

test('a write is rolled back unless it is wanted, asked about, and honours the role', { timeout: 90_000 }, async () => {
  const page = await world.open('/explore/public/authors?show=result&as=anon')
  await page.getByRole('radio', { name: 'Insert' }).check()
  await page.getByRole('textbox', { name: 'Body' }).fill('{"name": "Lin')
  await page.getByRole('textbox', { name: 'Body' }).and(page.locator('[aria-invalid=true]')).waitFor()
  assert.ok(await page.getByRole('button', { name: 'Run as anon' }).getAttribute('aria-disabled') === 'true')
  await page.getByRole('textbox', { name: 'Body' }).fill('{"name": "Lin"}')
  await page.getByRole('button', { name: 'Run as anon' }).click()
  await page.getByText('rolled back').waitFor()
  assert.match(await page.getByRole('region', { name: 'Answer' }).innerText(), /"name": ?"Lin"/)
  assert.equal((await world.sql(`select from authors where name = 'Lin'`)).rowCount, 0)

  await page.getByRole('switch', { name: 'Roll back' }).uncheck()
  await page.getByRole('button', { name: 'Run as anon' }).click()
  const dialog = page.getByRole('dialog', { name: 'Run this write?' })
  await dialog.getByText('runs as anon').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  assert.equal((await world.sql(`select from authors where name = 'Lin'`)).rowCount, 0)
  await page.getByRole('button', { name: 'Run as anon' }).click()
  await dialog.getByRole('button', { name: 'Run' }).click()
  await page.getByText('rolled back').waitFor({ state: 'detached' })
  await page.waitForFunction(() => !document.querySelector('dialog[open]'))
  assert.equal((await world.sql(`select from authors where name = 'Lin'`)).rowCount, 1)

  // What the role may not is said before and by the server.
  await page.getByRole('radio', { name: 'Delete' }).check()
  await page.getByText('As anon: not granted.').waitFor()
  await page.getByRole('switch', { name: 'Roll back' }).check()
  await page.getByRole('button', { name: 'Run as anon' }).click()
  await page.getByRole('alert').getByText(/permission denied/).waitFor()
  await world.close(page)
})

test('a function is called with its arguments', { timeout: 60_000 }, async () => {
  const page = await world.open('/explore/functions/public/add?show=result')
  await page.getByLabel('a (integer)').fill('40')
  await page.getByRole('button', { name: 'Run as database owner' }).click()
  const answer = page.getByRole('region', { name: 'Answer' })
  await answer.waitFor()
  assert.equal((await answer.innerText()).trim(), '42')
  assert.match(await shownURL(page), /\/rest\/v1\/rpc\/add\?a=40$/)
  await world.close(page)
})

test('code says whose token it needs, and what is saved stays until the browser has it', { timeout: 60_000 }, async () => {
  const user = '33333333-3333-4333-8333-333333333333'
  const page = await world.open(`/explore/public/books?as=authenticated:${user}`)
  await page.getByText(`To act as ${user} it must sign that user in first`).waitFor()
  await page.goto(new URL('/admin/explore/functions/public/add?show=result&as=anon', world.url).href)
  await page.evaluate(() => {
    globalThis.revoked = 0
    const revoke = URL.revokeObjectURL
    URL.revokeObjectURL = (address) => { globalThis.revoked++; revoke.call(URL, address) }
  })
  await page.getByLabel('a (integer)').fill('40')
  await page.getByRole('button', { name: 'Run as anon' }).click()
  await page.getByRole('region', { name: 'Answer' }).waitFor()
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  assert.equal(await page.evaluate(() => globalThis.revoked), 0)
  assert.equal(readFileSync(await (await saved).path(), 'utf8').trim(), '42')
  await world.close(page)
})

test('no private key is shown, and what is stored is text', { timeout: 60_000 }, async () => {
  const page = await world.open('/explore/public/books?as=service_role')
  const secret = world.keys.SERVICE_ROLE_KEY ?? world.keys.SERVICE_KEY
  assert.ok(secret?.length > 20)
  for (const language of ['JavaScript', 'curl', 'Dart', 'Python', 'Swift', 'Kotlin']) {
    await page.getByRole('radio', { name: language, exact: true }).check()
    const text = await page.locator('main').innerText()
    assert.ok(!text.includes(secret) && text.includes('<your service key: on servers only>'), language)
  }
  await page.goto(new URL(`/admin${address('/explore/public/books', { limit: 20 }, { show: 'result', as: 'service_role' })}`, world.url).href)
  await page.getByRole('button', { name: 'Run as service_role' }).click()
  await page.getByRole('region', { name: 'Answer' }).waitFor()
  assert.ok((await page.locator('main').innerText()).includes('<img src=x'))
  assert.notEqual(await page.title(), 'owned')
  await page.goto(new URL(`/admin/explore/public/${encodeURIComponent('we ird, "table"')}`, world.url).href)
  await page.getByRole('heading', { name: /we ird/ }).waitFor()
  assert.equal(await page.locator('main svg[onload], main img').count(), 0)
  await page.goto(new URL(`/admin${address('/explore/public/books', { filters: [{ column: xss, op: 'eq', value: 'x'.repeat(90_000) }] })}`.slice(0, 7_000), world.url).href)
  await page.getByRole('heading', { name: 'public.books' }).waitFor()
  await expectNoSidewaysScroll(page)
  await world.close(page)
})

test('a long name that nothing has does not make a phone scroll sideways', { timeout: 60_000 }, async () => {
  const page = await world.open(`/explore/functions/public/${'f'.repeat(60)}`, { width: 360 })
  await page.getByRole('heading', { name: 'The API does not offer' }).waitFor()
  await expectNoSidewaysScroll(page)
  await world.close(page)
})

test('the addresses are accepted, and supabase-js asks for the same', { timeout: 90_000 }, async (t) => {
  const library = fileURLToPath(new URL('../sdk/node_modules/@supabase/supabase-js/dist/index.mjs', import.meta.url))
  const { createClient } = existsSync(library) ? await import(pathToFileURL(library).href) : {}
  if (!createClient) t.diagnostic('supabase-js is not installed in testdata/sdk: only the addresses are tried')
  const page = await world.open('/explore')
  const book = { columns: [], embeds: [], filters: [], order: [] }
  for (const [path, request] of [
    ['books', { columns: [{ name: 'id', alias: 'n', cast: 'text' }, { name: 'data->k' }], limit: 3, offset: 1, order: [{ column: 'id', descending: true, nulls: 'last' }], count: 'exact' }],
    ['books', { columns: [{ name: 'mood' }, { name: 'price', aggregate: 'sum' }, { name: '*', aggregate: 'count' }] }],
    ['books', { filters: [{ column: 'title', op: 'in', value: 'Notes, "a,b", (c)' }, { column: 'tags', op: 'cs', value: '{a}' }, { column: 'second', op: 'is', value: 'null', not: true }, { column: 'title', op: 'ilike', value: '*o*' }, { column: 'data->>k', op: 'eq', value: '1' }, { column: 'title', op: 'match', value: '^N' }, { column: 'title', op: 'plfts', value: 'notes' }] }],
    ['books', { embeds: [{ ...book, name: 'authors', hint: 'second', alias: 'co', inner: true, columns: [{ name: 'name' }], filters: [{ column: 'name', op: 'eq', value: 'Grace' }] }] }],
    ['authors', { embeds: [{ ...book, name: 'books', hint: 'books_author_fkey', order: [{ column: 'id' }], limit: 1 }] }],
    ['we ird, "table"', { columns: [{ name: 'a b' }], filters: [{ column: 'a b', op: 'neq', value: 'x & y' }], order: [{ column: 'a b' }] }],
    ['odd name', { columns: [{ name: 'Größe' }, { name: 'a.b', alias: 'A.b' }, { name: 'q"uote' }, { name: 'x,y' }], filters: [{ column: 'a.b', op: 'eq', value: 'p' }, { column: 'q"uote', op: 'in', value: 'q, "r"' }, { column: 'x,y', op: 'is', value: 'null', not: true }], order: [{ column: 'Größe', descending: true }, { column: 'q"uote' }] }],
    ['a.b', { columns: [{ name: 'Id' }], embeds: [{ ...book, name: 'odd name', alias: 'Odd "one"', inner: true, columns: [{ name: 'a.b' }], filters: [{ column: 'a.b', op: 'eq', value: 'p' }] }, { ...book, name: 'Größe', order: [{ column: 'Größe' }], limit: 1 }] }],
    ['Größe', { filters: [{ column: 'Größe', op: 'gt', value: '1' }], embeds: [{ ...book, name: 'a.b', hint: 'Größe_a.b_fkey', inner: true }] }],
    ['odd name', { verb: 'upsert', body: '[{"Größe": 7, "a.b": "p", "x,y": "r"}]', onConflict: ['x,y'], returning: true, columns: [{ name: 'a.b' }] }],
    ['odd name', { verb: 'update', body: '{"q\\"uote": "q"}', filters: [{ column: 'q"uote', op: 'eq', value: 'q' }], returning: true }],
    ['authors', { verb: 'insert', body: '[{"name": "Jean"}, {"name": "Kay"}]', returning: true }],
    ['books', { verb: 'upsert', body: '{"id": 2, "title": "t", "author": 2}', onConflict: ['id'], returning: true }],
    ['books', { verb: 'update', body: '{"out": true}', filters: [{ column: 'id', op: 'eq', value: '2' }], returning: true, columns: [{ name: 'id' }] }],
    ['books', { verb: 'delete', filters: [{ column: 'id', op: 'eq', value: '77' }] }],
    ['functions/public/add', { verb: 'rpc', arguments: [{ name: 'a', value: '1' }, { name: 'b', value: '5' }], get: true }],
    ['functions/public/books_of', { verb: 'rpc', arguments: [{ name: 'author_id', value: '1' }], columns: [{ name: 'id' }], order: [{ column: 'id' }], limit: 2 }],
  ]) {
    const name = path.split('/').at(-1)
    const where = path.includes('/') ? `/explore/${path}` : `/explore/public/${encodeURIComponent(path)}`
    await page.goto(new URL(`/admin${address(where, request, { lang: 'javascript' })}`, world.url).href)
    const url = page.getByRole('region', { name: 'URL', exact: true })
    await url.waitFor()
    const wanted = new URL((await url.innerText()).trim())
    const method = await page.getByRole('region', { name: 'The request' }).getByText(/^(GET|POST|PATCH|DELETE)$/).innerText()
    const code = await page.getByRole('region', { name: 'Code', exact: true }).innerText()
    const asked = []
    if (createClient) {
      const fetching = async (to, options) => {
        asked.push({ url: new URL(to), method: options.method })
        return fetch(to, options)
      }
      const evaluate = new Function('supabase', `return (async () => { ${code.slice(code.indexOf('const {', code.indexOf('createClient('))).replace(/^const \{.*?\} = await/s, 'return await')} })()`)
      const { error } = await evaluate(createClient(world.url, world.keys.ANON_KEY, { auth: { persistSession: false, autoRefreshToken: false }, global: { fetch: fetching }, realtime: { transport: class {} } }))
      assert.equal(error, null, `${name} ${JSON.stringify(request)}: ${JSON.stringify(error)}`)
      assert.equal(asked[0].method, method)
      assert.equal(decodeURIComponent(asked[0].url.pathname), decodeURIComponent(wanted.pathname))
      assert.deepEqual([...asked[0].url.searchParams].sort(), [...wanted.searchParams].sort(), code)
    } else if (method === 'GET') {
      const answer = await fetch(wanted, { headers: { apikey: world.keys.ANON_KEY } })
      assert.ok(answer.ok, `${wanted}: ${await answer.text()}`)
    }
  }
  await world.close(page)
})

test('the code for a shell asks for what has any name', { timeout: 60_000 }, async () => {
  const page = await world.open('/explore')
  for (const [table, request, wanted] of [
    ['odd name', { columns: [{ name: 'q"uote' }], filters: [{ column: 'a.b', op: 'eq', value: 'p' }] }, [{ 'q"uote': 'q' }]],
    ['a.b', { columns: [{ name: 'Id' }], embeds: [{ name: 'odd name', columns: [{ name: 'a.b' }], embeds: [], filters: [], order: [] }] }, [{ Id: 1, 'odd name': { 'a.b': 'p' } }]],
    ['Größe', { columns: [{ name: 'Größe' }], filters: [{ column: 'Größe', op: 'eq', value: '3' }] }, [{ Größe: 3 }]],
    ['odd name', { verb: 'upsert', body: `[{"Größe": 8, "q\\"uote": "it's", "x,y": "s"}]`, onConflict: ['x,y'], returning: true, columns: [{ name: 'q"uote' }] }, [{ 'q"uote': "it's" }]],
  ]) {
    await page.goto(new URL(`/admin${address(`/explore/public/${encodeURIComponent(table)}`, request, { lang: 'curl' })}`, world.url).href)
    await page.getByRole('heading', { name: `public.${table}`, exact: true }).waitFor()
    const code = await page.getByRole('region', { name: 'Code', exact: true }).innerText()
    assert.deepEqual(JSON.parse(execFileSync('sh', ['-c', code], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })), wanted, code)
  }
  await world.close(page)
})

test('Run is in sight of every tab, at any width', { timeout: 90_000 }, async () => {
  for (const width of [360, 768, 900, 1024, 1280, 1440]) {
    for (const request of [{ limit: 5 }, { verb: 'update', body: '{"out": true}' }]) {
      const page = await world.open(address('/explore/public/books', request), { width })
      const run = page.getByRole('button', { name: 'Run as database owner' })
      const reached = async () => {
        await run.scrollIntoViewIfNeeded()
        assert.ok(await run.evaluate((node) => {
          const { left, top, width, height } = node.getBoundingClientRect()
          return [[left + 2, top + height / 2], [left + width / 2, top + height / 2], [left + width - 2, top + height / 2]].every(([x, y]) => node.contains(document.elementFromPoint(x, y)))
        }), `covered at ${width} px`)
      }
      for (const tab of ['Plan', 'SQL', 'Code']) {
        await page.getByRole('tab', { name: tab, exact: true }).click()
        await reached()
      }
      await run.click()
      await page.getByRole('tabpanel', { name: 'Result' }).getByText(/^\d+\.\d ms$/).waitFor()
      await reached()
      // What it gave is still there after a look at the code.
      await page.getByRole('tab', { name: 'Code', exact: true }).click()
      await page.getByRole('tab', { name: 'Result', exact: true }).click()
      await page.getByRole('tabpanel', { name: 'Result' }).getByText(/^\d+\.\d ms$/).waitFor()
      await expectNoSidewaysScroll(page)
      await world.close(page)
    }
  }
})

test('axe finds nothing, in both schemes and at all widths', { timeout: 180_000 }, async () => {
  await expectAccessible(world, '/explore')
  await expectAccessible(world, address('/explore/public/books', { filters: [{ column: 'mood', op: 'eq', value: 'glad' }], columns: [{ name: 'price', aggregate: 'sum' }], embeds: [{ name: 'authors', hint: 'second', columns: [], embeds: [], filters: [], order: [] }], order: [{ column: 'id' }] }, { as: 'anon' }))
  await expectAccessible(world, address('/explore/public/books', { verb: 'upsert', body: '{"id": 1}', onConflict: ['id'] }, { show: 'result' }))
  for (const [path, width, scheme] of [['/explore/auth', 360, 'dark'], ['/explore/functions/public/books_of', 768, 'light'], ['/explore/public/nothing', 360, 'light']]) {
    const page = await world.open(path, { width, scheme })
    await expectNoAxeViolations(page)
    await expectNoSidewaysScroll(page)
    await world.close(page)
  }
})
