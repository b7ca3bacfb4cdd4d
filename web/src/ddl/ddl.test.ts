import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addColumn, alterColumn, dropColumn, newColumn, setNotNull, type ColumnDraft } from './column.ts'
import { addCheck, addForeignKey, addKey, defaultName, dropConstraint, type ForeignKeyDraft } from './constraint.ts'
import { alterEnum, createEnum } from './enums.ts'
import { bytes, rows, said, seconds } from './estimate.ts'
import { createIndex, dropIndex, newPart, type IndexDraft } from './indexes.ts'
import { castsItself, keepsRows, sameType, volatile } from './pgtypes.ts'
import { waits, type Plan } from './plan.ts'
import { dollars, ident, literal, qualified } from './quote.ts'
import { fieldOf } from './refusal.ts'
import { argumentTypes, createFunction, createTrigger, dropFunction, type FunctionDraft } from './routines.ts'
import { alterTable, createSchema, createTable, dropTable, type TableDraft } from './table.ts'
import { createView, refreshView, replaceView, type ViewDraft } from './views.ts'

const orders = { schema: 'public', name: 'orders' }
const odd = { schema: 'Öde "x"', name: 'my;table' }
const column = (draft: Partial<ColumnDraft>): ColumnDraft => ({ ...newColumn, name: 'a', ...draft })
const sql = (plan: Plan): string[] => plan.statements.map((statement) => statement.sql)
const work = (plan: Plan): string[] => plan.statements.map((statement) => `${statement.work} ${statement.locks.map((lock) => lock.mode).join(', ')}`.trim())

test('names are quoted when they must be, and cannot leave their quotes', () => {
  for (const [name, quoted] of [
    ['orders', 'orders'], ['order', '"order"'], ['user', '"user"'], ['Mixed', '"Mixed"'], ['a b', '"a b"'], ['1a', '"1a"'], ['', '""'], ['x$y', '"x$y"'],
    ['a"; drop table b; --', '"a""; drop table b; --"'], ['nul\0', '"nul"'], ['ä', '"ä"'], ['<img src=x onerror=alert(1)>', '"<img src=x onerror=alert(1)>"'],
  ]) assert.equal(ident(name!), quoted)
  assert.equal(qualified(odd), '"Öde ""x"""."my;table"')
})

test('texts are literals whatever they hold', () => {
  assert.equal(literal("it's"), "'it''s'")
  assert.equal(literal("back\\slash'"), "E'back\\\\slash'''")
  assert.equal(dollars('select 1'), '$$select 1$$')
  assert.equal(dollars('a $$ b'), '$body$a $$ b$body$')
  assert.equal(dollars('a $$ $body$'), '$body1$a $$ $body$$body1$')
  assert.equal(dollars('costs 5$'), '$body$costs 5$$body$')
})

test('a table is made with its keys, row level security and grants', () => {
  const draft: TableDraft = {
    name: orders, comment: "the shop's", rls: true, roles: ['anon', 'authenticated', 'service_role'], primaryKey: ['id'], uniques: [['number']],
    columns: [
      column({ name: 'id', type: 'bigint', identity: 'always', notNull: true }),
      column({ name: 'user', type: 'uuid', notNull: true, comment: 'who' }),
      column({ name: 'number', type: 'integer', default: '0' }),
      column({ name: 'twice', type: 'integer', generated: 'number * 2' }),
    ],
    foreignKeys: [{ name: '', columns: ['user'], target: { schema: 'auth', name: 'users' }, targetColumns: ['id'], onUpdate: 'no action', onDelete: 'cascade', deferrable: false }],
    checks: [{ name: 'positive', expression: 'number >= 0' }],
  }
  assert.deepEqual(sql(createTable(draft)), [
    `create table public.orders (
  id bigint generated always as identity,
  "user" uuid not null,
  number integer default 0,
  twice integer generated always as (number * 2) stored,
  primary key (id),
  unique (number),
  constraint positive check (number >= 0),
  foreign key ("user") references auth.users (id) on delete cascade
)`,
    'alter table public.orders\nenable row level security',
    `comment on table public.orders is 'the shop''s'`,
    `comment on column public.orders."user" is 'who'`,
    'grant select, insert, update, delete on table public.orders to anon, authenticated',
    'revoke truncate, references, trigger on table public.orders from anon, authenticated',
    'grant all on table public.orders to service_role',
  ])
  assert.deepEqual(createTable(draft).statements[0]!.locks, [{ table: { schema: 'auth', name: 'users' }, mode: 'SHARE ROW EXCLUSIVE' }])
  const open = createTable({ ...draft, rls: false, roles: ['service_role'] })
  assert.ok(sql(open).includes('revoke all on table public.orders from anon, authenticated'))
  assert.equal(open.warnings, undefined)
  assert.equal(createTable({ ...draft, rls: false }).warnings?.length, 1)
})

test('a new column touches the rows only where its value differs from row to row', () => {
  for (const [draft, expected] of [
    [{}, 'none ACCESS EXCLUSIVE'],
    [{ default: "'x'" }, 'none ACCESS EXCLUSIVE'],
    [{ default: 'now()' }, 'none ACCESS EXCLUSIVE'],
    [{ default: "'gen_random_uuid()'" }, 'none ACCESS EXCLUSIVE'],
    [{ default: 'gen_random_uuid()' }, 'rewrite ACCESS EXCLUSIVE'],
    [{ default: 'clock_timestamp()' }, 'rewrite ACCESS EXCLUSIVE'],
    [{ identity: 'always' as const }, 'rewrite ACCESS EXCLUSIVE'],
    [{ generated: 'b + 1' }, 'rewrite ACCESS EXCLUSIVE'],
  ] as const) assert.deepEqual(work(addColumn(orders, column(draft), true)), [expected])
  const slow = addColumn(orders, column({ type: 'uuid', default: 'gen_random_uuid()' }), true)
  assert.deepEqual(sql(slow.safer!.plan), ['alter table public.orders\nadd column a uuid', 'alter table public.orders\nalter column a set default gen_random_uuid()'])
  assert.equal(addColumn(orders, column({ default: 'gen_random_uuid()', notNull: true }), true).safer, undefined)
  assert.equal(addColumn(orders, column({ notNull: true }), true).warnings?.length, 1)
  assert.equal(addColumn(orders, column({ notNull: true }), false).warnings, undefined)
})

test('a column is changed by what differs, in an order that PostgreSQL takes', () => {
  const was = column({ type: 'text', default: "'0'" })
  assert.deepEqual(alterColumn(orders, was, was), { statements: [] })
  assert.deepEqual(sql(alterColumn(orders, was, { ...was, name: 'b', type: 'integer', notNull: true })), [
    'alter table public.orders\nrename column a to b',
    'alter table public.orders\nalter column b drop default',
    'alter table public.orders\nalter column b type integer using b::integer',
    `alter table public.orders\nalter column b set default '0'`,
    'alter table public.orders\nalter column b set not null',
  ])
  assert.deepEqual(work(alterColumn(orders, was, { ...was, type: 'varchar(20)' })), ['rewrite ACCESS EXCLUSIVE'])
  assert.deepEqual(work(alterColumn(orders, column({ type: 'varchar(20)' }), column({ type: 'varchar(40)' }))), ['none ACCESS EXCLUSIVE'])
  assert.deepEqual(sql(alterColumn(orders, column({ type: 'integer', notNull: true, default: '1' }), column({ type: 'integer', notNull: true, identity: 'always' }))), [
    'alter table public.orders\nalter column a drop default',
    'alter table public.orders\nalter column a add generated always as identity',
  ])
  assert.deepEqual(sql(alterColumn(orders, column({ notNull: true, comment: 'x' }), column({ comment: '' }))), [
    'alter table public.orders\nalter column a drop not null', 'comment on column public.orders.a is null',
  ])
  assert.deepEqual(sql(dropColumn(odd, 'a"b', true)), ['alter table "Öde ""x"""."my;table"\ndrop column "a""b" cascade'])
})

test('NOT NULL can be proved without blocking', () => {
  const plan = setNotNull(orders, 'a', false)
  assert.deepEqual(work(plan), ['scan ACCESS EXCLUSIVE'])
  assert.deepEqual(work(plan.safer!.plan), ['none ACCESS EXCLUSIVE', 'scan SHARE UPDATE EXCLUSIVE', 'none ACCESS EXCLUSIVE', 'none ACCESS EXCLUSIVE'])
  assert.equal(plan.safer!.plan.alone, true)
  assert.deepEqual(work(setNotNull(orders, 'a', true)), ['none ACCESS EXCLUSIVE'])
})

test('a foreign key locks both tables, or is proved later', () => {
  const key: ForeignKeyDraft = { name: '', columns: ['user_id'], target: { schema: 'auth', name: 'users' }, targetColumns: ['id'], onUpdate: 'cascade', onDelete: 'set null', deferrable: true }
  const plan = addForeignKey(orders, key, false)
  assert.deepEqual(sql(plan), ['alter table public.orders\nadd constraint orders_user_id_fkey foreign key (user_id) references auth.users (id) on update cascade on delete set null deferrable'])
  assert.deepEqual(work(plan), ['scan SHARE ROW EXCLUSIVE, SHARE ROW EXCLUSIVE'])
  assert.deepEqual(work(plan.safer!.plan), ['none SHARE ROW EXCLUSIVE, SHARE ROW EXCLUSIVE', 'scan SHARE UPDATE EXCLUSIVE, ROW SHARE'])
  assert.match(sql(plan.safer!.plan)[0]!, / not valid$/)
  assert.equal(plan.warnings?.length, 1)
  assert.deepEqual(work(addForeignKey(orders, { ...key, target: orders })), ['scan SHARE ROW EXCLUSIVE'])
  assert.deepEqual(work(dropConstraint(orders, 'x', false, key.target)), ['none ACCESS EXCLUSIVE, ACCESS EXCLUSIVE'])
})

test('keys and checks have a way that lets writes go on', () => {
  const unique = addKey(orders, { kind: 'unique', name: '', columns: ['a', 'b'], nullsNotDistinct: true })
  assert.deepEqual(sql(unique), ['alter table public.orders\nadd constraint orders_a_b_key unique nulls not distinct (a, b)'])
  assert.deepEqual(sql(unique.safer!.plan), ['create unique index concurrently orders_a_b_key on public.orders (a, b) nulls not distinct', 'alter table public.orders\nadd constraint orders_a_b_key unique using index orders_a_b_key'])
  const primary = addKey(orders, { kind: 'primary key', name: '', columns: ['id'] }, ['id'])
  assert.deepEqual(sql(primary), ['alter table public.orders\nadd constraint orders_pkey primary key (id)'])
  assert.equal(primary.safer!.plan.statements.length, 6)
  assert.equal(primary.safer!.plan.alone, true)
  const check = addCheck(orders, { name: 'c', expression: 'a > 0' })
  assert.deepEqual(sql(check.safer!.plan), ['alter table public.orders\nadd constraint c check (a > 0) not valid', 'alter table public.orders\nvalidate constraint c'])
  assert.ok(defaultName('t'.repeat(60), ['column'], 'fkey').length <= 63)
})

test('an index is built beside writes when asked', () => {
  const draft: IndexDraft = { name: '', method: 'btree', parts: [{ ...newPart, column: 'a', descending: true, nulls: 'last' }, { ...newPart, expression: 'lower(b)' }], include: ['c'], unique: true, where: 'a is not null', concurrently: false }
  const plan = createIndex(orders, draft)
  assert.deepEqual(sql(plan), ['create unique index on public.orders\n(a desc nulls last, (lower(b)))\ninclude (c)\nwhere a is not null'])
  assert.deepEqual(work(plan), ['index SHARE'])
  assert.deepEqual(work(plan.safer!.plan), ['index SHARE UPDATE EXCLUSIVE'])
  assert.equal(createIndex(orders, { ...draft, concurrently: true }).alone, true)
  assert.deepEqual(sql(createIndex(orders, { ...draft, method: 'gin', name: 'x', parts: [{ ...newPart, column: 'j', operators: 'jsonb_path_ops', descending: true }], unique: false, include: [], where: '' })), ['create index x on public.orders\nusing gin (j jsonb_path_ops)'])
  assert.deepEqual(sql(dropIndex(orders, 'I').safer!.plan), ['drop index concurrently public."I"'])
  // PostgreSQL refuses both for a partitioned table.
  assert.equal(createIndex(orders, { ...draft, concurrently: true }, true).alone ?? createIndex(orders, draft, true).safer, undefined)
  assert.equal(dropIndex(orders, 'I', true).safer, undefined)
})

test('values of an enum are added at their places and renamed', () => {
  const mood = { schema: 'public', name: 'mood' }
  assert.deepEqual(sql(createEnum(mood, ['sad', "it's"], '')), [`create type public.mood as enum ('sad', 'it''s')`])
  assert.deepEqual(sql(alterEnum(mood, 'moods', [{ was: '', now: 'first' }, { was: 'sad', now: 'blue' }, { was: '', now: 'calm' }, { was: 'glad', now: 'glad' }, { was: '', now: 'last' }], { was: '', now: 'how' })), [
    `alter type public.mood\nrename value 'sad' to 'blue'`,
    `alter type public.mood\nadd value 'first' before 'blue'`,
    `alter type public.mood\nadd value 'calm' after 'blue'`,
    `alter type public.mood\nadd value 'last'`,
    `comment on type public.mood is 'how'`,
    'alter type public.mood\nrename to moods',
  ])
})

test('views read with the rights of who reads unless that is turned off', () => {
  const draft: ViewDraft = { name: { schema: 'public', name: 'v' }, query: 'select 1 as a;\n', materialized: false, securityInvoker: true, comment: '', roles: ['anon'] }
  assert.deepEqual(sql(createView(draft)), ['create view public.v\nwith (security_invoker = true) as\nselect 1 as a', 'grant select, insert, update, delete on table public.v to anon', 'revoke truncate, references, trigger on table public.v from anon'])
  assert.equal(createView(draft).warnings, undefined)
  assert.equal(createView({ ...draft, securityInvoker: false }).warnings?.length, 1)
  assert.equal(createView({ ...draft, materialized: true }).warnings?.length, 1)
  assert.deepEqual(sql(replaceView(draft, { ...draft, securityInvoker: false })), ['create or replace view public.v\nwith (security_invoker = false) as\nselect 1 as a'])
  assert.deepEqual(sql(replaceView(draft, draft)), [])
  assert.deepEqual(work(refreshView(draft.name, false)), ['rewrite ACCESS EXCLUSIVE'])
})

test('functions end in their own dollar quotes, and only those asked may call them', () => {
  const draft: FunctionDraft = { name: { schema: 'public', name: 'f' }, arguments: "a integer, b numeric(10,2) default 1, c text = 'x, y', out d text", returns: 'text', language: 'sql', volatility: 'stable', securityDefiner: true, body: 'select $$x$$', comment: 'about', roles: ['authenticated'] }
  assert.equal(argumentTypes(draft.arguments), 'a integer, b numeric(10,2), c text')
  assert.deepEqual(sql(createFunction(draft)), [
    `create function public.f(${draft.arguments})\nreturns text\nlanguage sql\nstable\nsecurity definer\nset search_path = ''\nas $body$\nselect $$x$$\n$body$`,
    `comment on function public.f(a integer, b numeric(10,2), c text) is 'about'`,
    'revoke execute on function public.f(a integer, b numeric(10,2), c text) from public, anon, service_role',
    'grant execute on function public.f(a integer, b numeric(10,2), c text) to authenticated',
  ])
  assert.equal(createFunction({ ...draft, roles: ['anon', 'authenticated', 'service_role'], comment: '' }).statements.length, 1)
  assert.deepEqual(sql(dropFunction({ schema: 'public', name: 'F' }, 'integer', 'procedure', false)), ['drop procedure public."F"(integer)'])
})

test('a trigger names its events and columns', () => {
  assert.deepEqual(sql(createTrigger(orders, { name: 'touch', timing: 'before', events: ['insert', 'update'], columns: ['a', 'B'], each: 'row', when: 'new.a > 0', function: { schema: 'public', name: 'f' } })),
    ['create trigger touch\nbefore insert or update of a, "B" on public.orders\nfor each row\nwhen (new.a > 0)\nexecute function public.f()'])
})

test('a table is renamed, moved and dropped, and says what breaks', () => {
  const was = { name: orders, comment: '', rls: false }
  const plan = alterTable(was, { name: { schema: 'shop', name: 'Order' }, comment: 'c', rls: true })
  assert.deepEqual(sql(plan), [
    'alter table public.orders\nenable row level security', `comment on table public.orders is 'c'`, 'alter table public.orders\nset schema shop', 'alter table shop.orders\nrename to "Order"',
  ])
  assert.equal(plan.warnings?.length, 3)
  assert.deepEqual(work(dropTable(orders, 'table', true, [{ schema: 'public', name: 'lines' }])), ['none ACCESS EXCLUSIVE, ACCESS EXCLUSIVE'])
  assert.deepEqual(sql(createSchema('Shop', '', ['anon'])), ['create schema "Shop"', 'grant usage on schema "Shop" to anon'])
})

test('types are compared by what they mean', () => {
  assert.ok(sameType('int8', 'bigint') && sameType('varchar(10)', 'character varying(10)') && sameType('timestamptz', 'timestamp with time zone') && sameType('timestamp(3) with time zone', 'timestamptz(3)'))
  assert.ok(!sameType('numeric(10,2)', 'numeric') && !sameType('text', 'text[]') && !sameType('"A"', 'a'))
  for (const [from, to, keeps] of [
    ['varchar(5)', 'text', true], ['text', 'varchar', true], ['text', 'varchar(5)', false], ['varchar(5)', 'varchar(4)', false], ['numeric(10,2)', 'numeric(12,2)', true],
    ['numeric(10,2)', 'numeric(12,3)', false], ['numeric(10,2)', 'numeric', true], ['numeric', 'numeric(10,2)', false], ['integer', 'bigint', false], ['cidr', 'inet', true], ['inet', 'cidr', false],
    ['timestamp(3)', 'timestamp', true], ['timestamptz', 'timestamp', false], ['text[]', 'text', false],
  ] as const) assert.equal(keepsRows(from, to), keeps, `${from} to ${to}`)
  assert.ok(castsItself('integer', 'bigint') && castsItself('uuid', 'text') && !castsItself('text', 'integer') && !castsItself('boolean', 'integer'))
  assert.ok(volatile('nextval(\'s\'::regclass)') && volatile('my_function()') && !volatile("'random()'::text") && !volatile('now()') && !volatile('0'))
})

test('sizes become times and words', () => {
  const size = { rows: 10_000_000, bytes: 3e9, indexBytes: 600e6 }
  assert.equal(said(seconds('none', undefined)), 'a moment')
  assert.equal(said(seconds('scan', undefined)), 'not known: the table was never analyzed')
  assert.equal(said(seconds('scan', size)), 'about 10 seconds')
  assert.equal(said(seconds('rewrite', size)), 'about 70 seconds')
  assert.equal(said(seconds('index', { rows: 400_000_000, bytes: 30e9, indexBytes: 0 })), 'about 18 minutes')
  assert.equal(rows(null), 'an unknown number of rows')
  assert.equal(rows(1), '1 row')
  assert.equal(rows(1_234_567), '~1.2M rows')
  assert.equal(bytes(8192), '8.0 kB')
  assert.equal(waits('SHARE').words, 'reads go on, writes wait')
  assert.equal(waits('ACCESS EXCLUSIVE').words, 'reads and writes wait')
})

test('a refusal finds its field by position, else by its code', () => {
  const statement = 'alter table public.orders\nadd column a nosuch default nope(1)'
  const fields = { name: 'a', type: 'nosuch', default: 'nope(1)', comment: '' }
  assert.equal(fieldOf({ code: '42704', message: '', position: statement.indexOf('nosuch') + 1 }, statement, fields), 'type')
  assert.equal(fieldOf({ code: '42883', message: '', position: statement.indexOf('nope') + 1 }, statement, fields), 'default')
  assert.equal(fieldOf({ code: '42701', message: '' }, statement, fields), 'name')
  assert.equal(fieldOf({ code: '22P02', message: '' }, statement, fields), 'default')
  assert.equal(fieldOf({ code: '42601', message: '', position: 'select "😀" fro'.length }, 'select "😀" frm x', { query: 'select "😀" frm x' }), 'query')
  assert.equal(fieldOf({ code: 'XX000', message: '' }, statement, fields), '')
})
