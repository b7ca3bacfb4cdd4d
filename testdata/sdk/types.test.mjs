// The types that `basalt types` prints, compiled with a client that uses them.
import { after, before, test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { known, start } from './server.mjs'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
let basalt, folder

before(async () => {
  basalt = await start('--schemas', 'public,shop')
  await basalt.sql(`
    create schema shop;
    create type mood as enum ('sad', 'ok');
    create type place as (x int, y int);
    create table countries (code text primary key, name text not null);
    create table sheets (country text primary key references countries, area numeric);
    create table cities (
      id bigint generated always as identity primary key,
      name text not null,
      country text not null references countries,
      population bigint,
      mood mood not null default 'ok',
      spot place,
      tags text[],
      extra jsonb not null default '{}',
      upper_name text generated always as (upper(name)) stored
    );
    create view big_cities as select id, name, upper(name) as loud from cities where population > 1000000;
    create view counts as select count(*) as n from cities;
    create type shop.state as enum ('open', 'paid');
    create table shop.orders (id int primary key, total numeric not null, state shop.state);
    create function add(a int, b int) returns int language sql immutable as 'select a + b';
    create function add(a text, b text) returns text language sql immutable as 'select a || b';
    create function cities_of(code text) returns setof cities language sql stable as 'select * from cities where country = code';
    create function listed(most int default 10) returns table (id bigint, name text) language sql stable as 'select id, name from cities limit most';
    create function halves(n int, out low int, out high int) language sql immutable as 'select n / 2, n - n / 2';
    create function nothing() returns void language sql as 'select';
    create function shout(cities) returns text language sql stable as 'select upper($1.name)';
  `)
  await known(basalt, 'counts')
  folder = mkdtempSync(join(tmpdir(), 'basalt-types-'))
  symlinkSync(here('node_modules'), join(folder, 'node_modules'))
})

after(async () => {
  await basalt?.stop()
  if (folder) rmSync(folder, { recursive: true, force: true })
})

function compile(...files) {
  execFileSync(process.execPath, [here('node_modules/typescript/bin/tsc'), '--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022',
    '--module', 'esnext', '--moduleResolution', 'bundler', '--lib', 'es2022,dom', '--types', '', ...files],
  { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

test('a client compiles against the types, and its mistakes do not', () => {
  writeFileSync(join(folder, 'database.ts'), basalt.run('types', '--lang', 'ts', '--schema', 'public', '--schema', 'shop'))
  copyFileSync(here('types/program.ts'), join(folder, 'program.ts'))
  assert.doesNotThrow(() => compile('program.ts'), (error) => assert.fail(error.stdout || error.message))
})

test('the types of every kind of thing compile', () => {
  copyFileSync(here('../../query/typescript/testdata/database.golden.ts'), join(folder, 'golden.ts'))
  assert.doesNotThrow(() => compile('golden.ts'), (error) => assert.fail(error.stdout || error.message))
})

test('the types are the same from the server, beside it and without it', async () => {
  const print = () => basalt.run('types', '--lang', 'ts', '--schema', 'public', '--schema', 'shop')
  const answer = await fetch(`${basalt.url}/admin/api/types.ts`, { headers: await basalt.administrator('viewer') })
  assert.equal(answer.status, 200)
  const served = await answer.text()
  assert.equal(print(), served)
  await basalt.halt()
  assert.equal(print(), served)
})
