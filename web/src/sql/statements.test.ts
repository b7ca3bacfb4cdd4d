import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dangersOf } from '../screens/sql/dangers.ts'
import { onlyReads, split, statementAt, tablesOf } from './statements.ts'

const texts = (sql: string) => split(sql).map(({ start, end }) => sql.slice(start, end))
const none = () => undefined
const warned = (sql: string, rows: () => number | undefined = none) => split(sql).flatMap((statement) => dangersOf(statement, rows)).map(({ what }) => what)

test('statements end at semicolons that are in no string, comment, bracket or body', () => {
  assert.deepEqual(texts("select ';'; select 2 ;;\n-- no; \nselect /* a /* b; */ ; */ 3"), ["select ';'", 'select 2', 'select /* a /* b; */ ; */ 3'])
  assert.deepEqual(texts("select $$;$$; select $a$ $$; $a$; select E'\\';'; select 'a\\'; select \"a;\"\"b\""), ['select $$;$$', 'select $a$ $$; $a$', "select E'\\';'", "select 'a\\'", 'select "a;""b"'])
  assert.deepEqual(texts('create function f() returns int begin atomic select case when true then 1 end; select 2; end; select 3'), ['create function f() returns int begin atomic select case when true then 1 end; select 2; end', 'select 3'])
  assert.deepEqual(texts('create rule r as on insert to t do (select 1; select 2); select 3'), ['create rule r as on insert to t do (select 1; select 2)', 'select 3'])
  assert.deepEqual(texts('copy t from stdin;\n1;2\n\\.\nselect 1'), ['copy t from stdin', 'select 1'])
  assert.deepEqual(texts('select $1; select a$b$c; select 1e5'), ['select $1', 'select a$b$c', 'select 1e5'])
  assert.deepEqual(texts("select 'open"), ["select 'open"])
  assert.deepEqual(texts(' -- only a comment\n'), [])
})

test('the statement at the cursor is the one it is in or right behind', () => {
  const sql = 'select 1;\n\n\nselect 2;\nselect 3'
  const at = (place: number) => { const found = statementAt(split(sql), sql, place); return found && sql.slice(found.start, found.end) }
  assert.equal(at(0), 'select 1')
  assert.equal(at(9), 'select 1')
  assert.equal(at(12), 'select 2')
  assert.equal(at(sql.length), 'select 3')
})

test('tables are found with their schemas and aliases', () => {
  const of = (sql: string) => tablesOf(split(sql)[0]!)
  assert.deepEqual(of('select  from public.orders o, "Big Table" as b join lines on true where x'), [
    { schema: 'public', name: 'orders', alias: 'o' }, { schema: undefined, name: 'Big Table', alias: 'b' }, { schema: undefined, name: 'lines', alias: undefined }])
  assert.deepEqual(of('update only a set x = 1'), [{ schema: undefined, name: 'a', alias: undefined }])
  assert.deepEqual(of('insert into a.b (x) values (1)').map(({ name }) => name), ['b'])
})

test('deletes and updates without where are warned of, wherever they stand', () => {
  assert.deepEqual(warned('delete from public.a'), ['delete from public.a without where'])
  assert.deepEqual(warned('delete from a where id = 1'), [])
  assert.deepEqual(warned('update a set x = (select 1 from b where true)'), ['update a without where'])
  assert.deepEqual(warned("update a set x = 'where'"), ['update a without where'])
  assert.deepEqual(warned('update a set x = 1 /* where */'), ['update a without where'])
  assert.deepEqual(warned('with gone as (delete from a returning *) select * from gone where true'), ['delete from a without where'])
  assert.deepEqual(warned('with one as (select 1 where true) update a set x = 1 where id = 2'), [])
  assert.deepEqual(warned('select * from a for update'), [])
  assert.deepEqual(warned('explain delete from a'), [])
  assert.deepEqual(warned('explain (analyze, buffers) delete from a'), ['delete from a without where'])
  assert.deepEqual(warned("select 'delete from a'; select $$ drop table a $$"), [])
  assert.deepEqual(warned('insert into a values (1) on conflict (id) do update set x = 1'), [])
})

test('what destroys or locks is warned of', () => {
  assert.deepEqual(warned('drop table if exists a.b cascade; truncate c; drop materialized view m'), ['drop table a.b', 'truncate c', 'drop materialized view m'])
  assert.deepEqual(warned('alter table a drop column b, drop constraint c; alter table a drop constraint c; alter table a alter b drop not null'), ['drop column b of a'])
  assert.deepEqual(warned('create index on a (b)', () => 5), [])
  assert.deepEqual(warned('create index on a (b)', () => 1e6), ['create index on a'])
  assert.deepEqual(warned('create unique index concurrently i on a (b)', () => 1e6), [])
  assert.deepEqual(warned('alter table a add b int', () => 1e6), ['alter table a'])
  assert.deepEqual(warned('vacuum full a; lock table a; reindex table a; cluster a; vacuum a'), ['vacuum full', 'lock a', 'reindex', 'cluster'])
})

test('only what reads is run again for more rows', () => {
  const reads = (sql: string) => onlyReads(split(sql)[0]!)
  assert.ok(reads('select 1') && reads('with a as (select 1) table a') && reads('select "delete" from a'))
  assert.ok(!reads('with a as (delete from b returning *) select * from a') && !reads('select 1 into b') && !reads('insert into a values (1) returning *') && !reads("select nextval('s')"))
})
