import assert from 'node:assert/strict'
import { test } from 'node:test'
import { restName } from '../../../app/restname.ts'
import { accountCode, accounts } from './accounts.ts'
import { code } from './code.ts'
import { languages, spread } from './place.ts'
import { emptyRequest, read, write, type Request } from './request.ts'
import { element, elements, http } from './url.ts'

const server = { url: 'http://127.0.0.1:8090', key: 'anon-key', schemas: ['public', 'shop'] }
const request = (change: Partial<Request>): Request => ({ ...emptyRequest('public', 'todos'), ...change })
const path = (change: Partial<Request>) => decodeURIComponent(http(request(change), server.schemas).path)

test('names are quoted where the grammar would read them otherwise', () => {
  assert.deepEqual(['id', 'größe', 'a b', 'a.b', 'say "hi"', '1st', 'order'].map(restName), ['id', 'größe', '"a b"', '"a.b"', '"say \\"hi\\""', '"1st"', '"order"'])
})

test('elements of lists are quoted where commas or parentheses are in them', () => {
  assert.deepEqual(['a', 'a,b', '(x)', 'null', '', 'a.b'].map(element), ['a', '"a,b"', '"(x)"', '"null"', '""', 'a.b'])
  assert.deepEqual(elements('a, "b,c" , d e'), ['a', 'b,c', 'd e'])
  assert.deepEqual(elements('  '), [])
})

for (const [title, change, want] of [
  ['all rows', {}, '/todos?select=*'],
  ['columns, renamed, cast and summed up', { columns: [{ name: 'id', alias: 'n', cast: 'text' }, { name: 'price', aggregate: 'sum' }, { name: '*', aggregate: 'count' }] }, '/todos?select=n:id::text,price.sum(),count()'],
  ['a path into JSON', { columns: [{ name: 'data->>kind' }], filters: [{ column: 'data->a->>b', op: 'eq', value: 'x' }] }, '/todos?select=data->>kind&data->a->>b=eq.x'],
  ['embeds within embeds', { embeds: [{ name: 'users', hint: 'owner', inner: true, alias: 'who', columns: [{ name: 'name' }], embeds: [{ name: 'teams', columns: [], embeds: [], filters: [], order: [], limit: 2 }], filters: [{ column: 'name', op: 'like', value: 'A*' }], order: [{ column: 'name', descending: true, nulls: 'last' }] }] },
    '/todos?select=*,who:users!owner!inner(name,teams(*))&who.name=like.A*&who.order=name.desc.nullslast&who.teams.limit=2'],
  ['conditions', { filters: [{ column: 'id', op: 'in', value: '1, "a,b"' }, { column: 'done', op: 'is', value: 'null', not: true }] }, '/todos?select=*&id=in.(1,"a,b")&done=not.is.null'],
  ['a condition on a column that is called as a parameter is', { filters: [{ column: 'order', op: 'eq', value: '1' }] }, '/todos?select=*&"order"=eq.1'],
  ['order and window', { order: [{ column: 'id' }, { column: 'a b', descending: true }], limit: 5, offset: 10 }, '/todos?select=*&order=id.asc,"a b".desc&offset=10&limit=5'],
  ['an insert of several rows', { verb: 'insert', body: '[{"a": 1}, {"b": 2}]', returning: true }, '/todos?columns="a","b"&select=*'],
  ['an upsert', { verb: 'upsert', body: '{"id": 1}', onConflict: ['id', 'k'] }, '/todos?on_conflict=id,k'],
  ['a delete leaves order and limit out', { verb: 'delete', filters: [{ column: 'id', op: 'eq', value: '1' }], limit: 3, order: [{ column: 'id' }] }, '/todos?id=eq.1'],
  ['a call by GET', { verb: 'rpc', get: true, arguments: [{ name: 'a', value: '1' }, { name: 'tags', value: '["x","y"]' }], limit: 3 }, '/rpc/todos?a=1&tags={x,y}&limit=3'],
] as [string, Partial<Request>, string][]) {
  test(`the address of ${title}`, () => assert.equal(path(change), want))
}

test('what cannot stand in an address is encoded, and characters that mean something in one are too', () => {
  assert.equal(http(request({ filters: [{ column: 'a', op: 'eq', value: 'x&y=#+%"é' }] }), server.schemas).path, '/todos?select=*&a=eq.x%26y%3D%23%2B%25%22%C3%A9')
})

test('another schema is named by the profile', () => {
  assert.equal(http(request({ schema: 'shop' }), server.schemas).headers['Accept-Profile'], 'shop')
  assert.equal(http(request({ schema: 'shop', verb: 'delete' }), server.schemas).headers['Content-Profile'], 'shop')
  assert.equal(http(request({}), server.schemas).headers['Accept-Profile'], undefined)
})

test('numbers of a body and of arguments stay as they were typed', () => {
  assert.equal(http(request({ verb: 'rpc', arguments: [{ name: 'n', value: '9223372036854775807' }] }), server.schemas).body, '{"n": 9223372036854775807}')
  assert.match(spread('[{"n":9223372036854775807,"s":"a\\"{,"}]'), /"n": 9223372036854775807,\n    "s": "a\\"\{,"/)
  assert.equal(spread('[]'), '[]')
})

test('a request in an address is read back as it was, and nonsense is left out', () => {
  const whole = request({
    verb: 'update', columns: [{ name: 'a', cast: 'text' }], filters: [{ column: 'a', op: 'eq', value: '1', not: true }], order: [{ column: 'a', nulls: 'first' }], limit: 5, offset: 1, count: 'exact', single: true, body: '{"a":1}', returning: true,
    embeds: [{ name: 'b', hint: 'c', inner: true, columns: [], embeds: [], filters: [], order: [], limit: 1 }], onConflict: ['a'], arguments: [{ name: 'x', value: '1' }], get: true,
  })
  assert.deepEqual(read(write(whole), 'public', 'todos'), whole)
  assert.equal(write(emptyRequest('public', 'todos')), '')
  for (const nonsense of ['null', '[]', '{', '"x"', '{"columns":{},"filters":[1,{"column":5},{"column":"a","op":"eq.x)"}],"limit":-1,"verb":"drop","embeds":[[],{}],"count":"all"}']) {
    assert.deepEqual(read(nonsense, 'public', 'todos'), emptyRequest('public', 'todos'))
  }
  let deep: unknown = {}
  for (let i = 0; i < 50; i++) deep = { name: 'a', embeds: [deep] }
  assert.ok(write(read(JSON.stringify({ embeds: [deep] }), 'public', 'todos')).length < 1000)
})

const nasty = `it's "x" \${y} \\ $z </script> \n`
test('what is typed stays a text of every language', () => {
  const typed = request({ filters: [{ column: 'a', op: 'eq', value: nasty }], name: "o'brien" })
  const js = code('javascript', typed, server)
  const value = new Function(`return ${/\.eq\('a', (.*)\)/.exec(js)![1]!}`)() as string
  assert.equal(value, nasty)
  assert.match(code('dart', typed, server), /\\\$\{y\}/)
  assert.match(code('kotlin', typed, server), /\\\$z/)
  assert.match(code('curl', typed, server), /^curl 'http:\/\/127\.0\.0\.1:8090\/rest\/v1\/o'\\''brien\?/)
})

test('code keeps to what the library of its language takes', () => {
  const written = request({ verb: 'update', body: '{"a": 1}', filters: [{ column: 'id', op: 'eq', value: '1' }], returning: true, columns: [{ name: 'id' }] })
  // What select gives takes no conditions any more.
  assert.match(code('swift', written, server), /\.update\(values\)\s+\.eq\("id", value: 1\)\s+\.select\("id"\)/)
  assert.match(code('dart', written, server), /\.update\(.*\)\s+\.eq\("id", 1\)\s+\.select\("id"\)/)
  assert.match(code('python', written, server), /\.update\(.*\)\s+\.eq\("id", 1\)\s+\.select\("id"\)/)
  const called = request({ verb: 'rpc', schema: 'shop', get: true, columns: [{ name: 'id' }], filters: [{ column: 'id', op: 'gt', value: '0' }] })
  assert.match(code('kotlin', called, server), /\{\s+schema = "shop"\s+method = RpcMethod\.GET[^]*select\(Columns\.raw\("id"\)\)/)
  for (const language of ['swift', 'dart'] as const) assert.match(code(language, called, server), /\.gt\([^]*\)\s+\.select\("id"\)/)
  // Methods for ranges that take two ends, and lists that are joined as they are, do not fit all values.
  assert.match(code('python', request({ filters: [{ column: 'r', op: 'sl', value: '[1,2)' }] }), server), /\.filter\("r", "sl", "\[1,2\)"\)/)
  const listed = (value: string) => code('kotlin', request({ filters: [{ column: 'a', op: 'in', value }] }), server)
  assert.match(listed('1,2'), /isIn\("a", listOf\(1, 2\)\)/)
  assert.match(listed('x,"a,b"'), /filter\("a", FilterOperator\.IN, "\(x,\\"a,b\\"\)"\)/)
  assert.match(code('dart', request({}), server), /publishableKey: "anon-key"/)
})

test('a short body of several lines is indented with the call that it stands in', () => {
  assert.match(code('javascript', request({ verb: 'insert', body: '{\n  "a": 1\n}' }), server), /\n  \.insert\(\{\n    "a": 1\n  \}\)/)
})

test('all languages know all verbs', () => {
  for (const language of languages) {
    for (const verb of ['select', 'insert', 'update', 'upsert', 'delete', 'rpc'] as const) {
      const text = code(language, request({ verb, body: '{"a": null, "b": [1, true]}', filters: [{ column: 'id', op: 'gt', value: '1' }], arguments: [{ name: 'a', value: 'x' }], count: 'exact', single: true, returning: true }), server)
      assert.match(text, /todos/, `${language} ${verb}`)
      assert.doesNotMatch(text, /undefined|\[object/, `${language} ${verb}`)
      assert.match(text, /anon-key/)
    }
    for (const group of accounts) for (const endpoint of group.endpoints) assert.doesNotMatch(accountCode(language, endpoint, server), /undefined/)
  }
  assert.match(code('python', request({ verb: 'insert', body: '{"a": null, "b": "true"}' }), server), /\{"a": None, "b": "true"\}/)
  assert.match(code('swift', request({ verb: 'insert', body: '{"a": {"b": null}}' }), server), /\["a": \["b": \.null\]\]/)
})
