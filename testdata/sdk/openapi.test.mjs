// The descriptions at the root of the REST API, checked by a validator of the specifications.
import { after, before, test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import SwaggerParser from '@apidevtools/swagger-parser'
import { known, start } from './server.mjs'

let basalt

before(async () => {
  basalt = await start('--schemas', 'public,second', '--openapi-security-active')
  await basalt.sql(readFileSync(new URL('../../query/typescript/testdata/schema.sql', import.meta.url), 'utf8'))
  await basalt.sql(`
    create table "a.b" ("c" int primary key);
    create table a ("b.c" int primary key);
    create table "odd {name}/~x" ("a b?" int primary key, "ü" text);
    create table "a.insert" (id int primary key);
    create table nothing_in_it ();
    create table last (id int primary key);
    grant usage on schema second to anon, service_role;
    grant select, insert on second.letters to anon;
    grant all on second.letters to service_role;
    revoke update on kinds from anon;
  `)
  await known(basalt, 'last')
})

after(() => basalt?.stop())

async function describe(headers = {}, path = '/rest/v1/') {
  const answer = await fetch(basalt.url + path, { headers: { apikey: basalt.keys.ANON_KEY, ...headers } })
  assert.equal(answer.status, 200)
  return [await answer.json(), answer.headers.get('content-type')]
}

const kinds = { '2.0': 'application/openapi+json', '3.1': 'application/openapi+json;version=3.1' }
for (const [version, accept] of Object.entries(kinds)) {
  for (const [role, key, schema, path, methods] of [
    ['anon', 'ANON_KEY', 'public', '/kinds', 'delete,get,post'],
    ['anon', 'ANON_KEY', 'second', '/letters', 'get,post'],
    ['service_role', 'SERVICE_ROLE_KEY', 'second', '/letters', 'delete,get,patch,post'],
  ]) {
    test(`what ${role} may do in ${schema} is valid OpenAPI ${version}`, async () => {
      const [document, type] = await describe({ accept, apikey: basalt.keys[key], 'accept-profile': schema })
      assert.match(type, version === '3.1' ? /^application\/openapi\+json; version=3\.1/ : /^application\/openapi\+json; charset/)
      assert.ok((document.swagger ?? document.openapi).startsWith(version))
      assert.equal(Object.keys(document.paths[path]).sort().join(), methods)
      await SwaggerParser.validate(document)
    })
  }
}

test('the address can ask for a version too', async () => {
  const [document] = await describe({}, '/rest/v1/?openapi=3.1')
  assert.equal(document.openapi, '3.1.0')
  const [other] = await describe({ accept: 'application/vnd.oai.openapi+json;version=3.1' })
  assert.deepEqual(other, document)
})

test('a row as it is read fits its schema', async () => {
  await basalt.sql(`
    insert into kinds (yes, docb, labels, period, serial, place, spots, moods)
    values (true, '{"a": 1}', '{x}', '[2026-01-01,2026-02-01)', 9007199254740991, row (1, null, 'n'), array[row (1, 2, null)::point3], '{sad}')
  `)
  const [document] = await describe({ accept: kinds['3.1'] })
  const { default: Ajv } = await import('ajv/dist/2020.js')
  const ajv = new Ajv({ strict: false, validateFormats: false, schemas: { 'root.json': { components: document.components } } })
  const fits = ajv.compile({ $ref: 'root.json#/components/schemas/kinds' })
  const rows = await (await fetch(`${basalt.url}/rest/v1/kinds`, { headers: { apikey: basalt.keys.ANON_KEY } })).json()
  assert.equal(rows.length, 1)
  assert.ok(fits(rows[0]), JSON.stringify(fits.errors))
  assert.ok(!fits({ ...rows[0], yes: null }))
  const insertable = ajv.compile({ $ref: 'root.json#/components/schemas/kinds.insert' })
  assert.ok(insertable({ yes: true, docb: {}, labels: [], period: 'empty' }), JSON.stringify(insertable.errors))
  assert.ok(!insertable({ docb: {}, labels: [], period: 'empty' }))
})
