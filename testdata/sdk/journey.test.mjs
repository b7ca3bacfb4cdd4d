// An app's first day: accounts, own rows behind row-level security, queries, errors.
import { after, before, test } from 'node:test'
import assert from 'node:assert/strict'
import { known, start } from './server.mjs'

const password = 'a long enough pass phrase'
let basalt, ada, bob

before(async () => {
  basalt = await start()
  await basalt.sql(`
    create table notes (
      id bigint generated always as identity primary key,
      owner uuid not null default auth.uid() references auth.users,
      body text not null,
      tags text[] not null default '{}',
      extra jsonb,
      created_at timestamptz not null default now()
    );
    alter table notes enable row level security;
    create policy own on notes using (owner = (select auth.uid())) with check (owner = (select auth.uid()));
    create table countries (code text primary key, name text not null);
    create table cities (
      id int primary key,
      name text not null,
      country text not null references countries,
      population bigint
    );
    insert into countries values ('NL', 'Netherlands'), ('BE', 'Belgium'), ('LU', 'Luxembourg');
    insert into cities values
      (1, 'Amsterdam', 'NL', 921402), (2, 'Utrecht', 'NL', 376435), (3, 'Gent', 'BE', 267709), (4, 'Brugge', 'BE', null);
    create function add(a int, b int) returns int language sql immutable as 'select a + b';
    create function cities_of(code text) returns setof cities language sql stable as 'select * from cities where country = code';
  `)
  await known(basalt, 'cities')
  ada = basalt.client()
  bob = basalt.client()
})

after(() => basalt?.stop())

test('a person signs up and is signed in at once', async () => {
  const { data, error } = await ada.auth.signUp({ email: 'Ada@Example.com', password, options: { data: { name: 'Ada' } } })
  assert.ifError(error)
  assert.equal(data.user.email, 'ada@example.com')
  assert.equal(data.user.user_metadata.name, 'Ada')
  assert.equal(data.user.identities.length, 1)
  assert.equal(data.session.token_type, 'bearer')
  const { data: { user } } = await ada.auth.getUser()
  assert.equal(user.id, data.user.id)
  const second = await bob.auth.signUp({ email: 'bob@example.com', password })
  assert.ifError(second.error)
})

test('an address is one account', async () => {
  const { error } = await basalt.client().auth.signUp({ email: 'ADA@example.com', password })
  assert.equal(error.code, 'user_already_exists')
  assert.equal(error.status, 422)
})

test('only the owner sees and changes a row', async () => {
  const { data: note, error } = await ada.from('notes').insert({ body: 'mine', tags: ['a', 'b,c'], extra: { n: 1 } }).select().single()
  assert.ifError(error)
  assert.equal(note.body, 'mine')
  assert.deepEqual(note.tags, ['a', 'b,c'])
  assert.deepEqual(note.extra, { n: 1 })

  const seen = await bob.from('notes').select('*', { count: 'exact' })
  assert.deepEqual(seen.data, [])
  assert.equal(seen.count, 0)
  const changed = await bob.from('notes').update({ body: 'stolen' }).eq('id', note.id).select()
  assert.deepEqual(changed.data, [])
  const deleted = await bob.from('notes').delete().eq('id', note.id).select()
  assert.deepEqual(deleted.data, [])
  const given = await bob.from('notes').insert({ body: 'forged', owner: note.owner })
  assert.equal(given.error.code, '42501')
  assert.equal(given.status, 403)
  const nobody = await basalt.client().from('notes').insert({ body: 'nobody' })
  assert.equal(nobody.status, 401)

  const mine = await ada.from('notes').update({ body: 'still mine' }).eq('id', note.id).select('id,body').single()
  assert.deepEqual(mine.data, { id: note.id, body: 'still mine' })
})

test('rows are filtered, ordered, counted and cut', async () => {
  const { data } = await ada.from('cities').select('name,country,population').eq('country', 'NL').order('name').limit(20)
  assert.deepEqual(data, [
    { name: 'Amsterdam', country: 'NL', population: 921402 },
    { name: 'Utrecht', country: 'NL', population: 376435 },
  ])
  const page = await ada.from('cities').select('id', { count: 'exact' }).order('id').range(1, 2)
  assert.deepEqual(page.data, [{ id: 2 }, { id: 3 }])
  assert.equal(page.count, 4)
  assert.equal(page.status, 206)
  const either = await ada.from('cities').select('id').or('name.ilike.*recht,population.is.null').order('id')
  assert.deepEqual(either.data, [{ id: 2 }, { id: 4 }])
  const listed = await ada.from('cities').select('id').in('name', ['Gent', 'Brugge']).order('id', { ascending: false })
  assert.deepEqual(listed.data, [{ id: 4 }, { id: 3 }])
  const head = await ada.from('cities').select('*', { count: 'exact', head: true })
  assert.equal(head.count, 4)
})

test('relations are embedded both ways', async () => {
  const { data } = await ada.from('countries').select('name,cities(name)').order('name').order('name', { referencedTable: 'cities' })
  assert.deepEqual(data, [
    { name: 'Belgium', cities: [{ name: 'Brugge' }, { name: 'Gent' }] },
    { name: 'Luxembourg', cities: [] },
    { name: 'Netherlands', cities: [{ name: 'Amsterdam' }, { name: 'Utrecht' }] },
  ])
  const up = await ada.from('cities').select('name,land:countries!inner(name)').eq('land.name', 'Belgium').order('id')
  assert.deepEqual(up.data, [{ name: 'Gent', land: { name: 'Belgium' } }, { name: 'Brugge', land: { name: 'Belgium' } }])
})

test('rows are upserted, replaced and deleted', async () => {
  const many = await ada.from('countries').upsert([{ code: 'NL', name: 'Nederland' }, { code: 'DE', name: 'Germany' }]).select()
  assert.ifError(many.error)
  assert.equal(many.data.length, 2)
  const ignored = await ada.from('countries').upsert({ code: 'DE', name: 'x' }, { ignoreDuplicates: true }).select()
  assert.deepEqual(ignored.data, [])
  const gone = await ada.from('countries').delete({ count: 'exact' }).eq('code', 'DE')
  assert.equal(gone.count, 1)
  const none = await ada.from('countries').select().eq('code', 'DE').maybeSingle()
  assert.equal(none.data, null)
  const missing = await ada.from('countries').select().eq('code', 'DE').single()
  assert.equal(missing.error.code, 'PGRST116')
})

test('functions are called', async () => {
  assert.equal((await ada.rpc('add', { a: 1, b: 2 })).data, 3)
  assert.equal((await ada.rpc('add', { a: 1, b: 2 }, { get: true })).data, 3)
  const rows = await ada.rpc('cities_of', { code: 'BE' }).select('name').order('name').limit(1)
  assert.deepEqual(rows.data, [{ name: 'Brugge' }])
})

test('errors say what was wrong', async () => {
  const table = await ada.from('citie').select()
  assert.equal(table.error.code, 'PGRST205')
  assert.equal(table.status, 404)
  assert.match(table.error.hint, /public\.cities/)
  const column = await ada.from('cities').select('nam')
  assert.equal(column.error.code, '42703')
  const type = await ada.from('cities').select().eq('id', 'x')
  assert.equal(type.error.code, '22P02')
  const key = await ada.from('cities').insert({ id: 1, name: 'again', country: 'NL' })
  assert.equal(key.error.code, '23505')
  assert.equal(key.status, 409)
  const text = await ada.from('cities').select('name').order('id').limit(2).csv()
  assert.equal(text.data, 'name\nAmsterdam\nUtrecht')
})

test('a session is refreshed, changed and ended', async () => {
  const before = (await ada.auth.getSession()).data.session
  const { data, error } = await ada.auth.refreshSession()
  assert.ifError(error)
  assert.notEqual(data.session.refresh_token, before.refresh_token)
  const updated = await ada.auth.updateUser({ data: { theme: 'dark' } })
  assert.equal(updated.data.user.user_metadata.theme, 'dark')
  assert.equal(updated.data.user.user_metadata.name, 'Ada')
  const { error: out } = await ada.auth.signOut()
  assert.ifError(out)
  const stale = await fetch(`${basalt.url}/auth/v1/user`, { headers: { apikey: basalt.keys.ANON_KEY, authorization: `Bearer ${data.session.access_token}` } })
  assert.equal(stale.status, 403)
  assert.equal((await stale.json()).error_code, 'session_not_found')
  const wrong = await ada.auth.signInWithPassword({ email: 'ada@example.com', password: 'wrong' })
  assert.equal(wrong.error.code, 'invalid_credentials')
  const again = await ada.auth.signInWithPassword({ email: 'ada@example.com', password })
  assert.ifError(again.error)
  assert.equal((await ada.from('notes').select()).data.length, 1)
})

test('the service key passes all policies and administers accounts', async () => {
  const service = basalt.client(basalt.keys.SERVICE_ROLE_KEY)
  assert.equal((await service.from('notes').select()).data.length, 1)
  const made = await service.auth.admin.createUser({ email: 'eve@example.com', password, email_confirm: true })
  assert.ifError(made.error)
  const { data: { users } } = await service.auth.admin.listUsers()
  assert.equal(users.length, 3)
  assert.ifError((await service.auth.admin.deleteUser(made.data.user.id)).error)
  const refused = await ada.auth.admin.listUsers()
  assert.ok(refused.error)
})

test('no secret has reached the log', () => {
  const log = basalt.log.join('\n')
  for (const secret of [password, basalt.keys.SERVICE_ROLE_KEY, basalt.keys.JWT_SECRET]) assert.ok(!log.includes(secret))
})
