import assert from 'node:assert/strict'
import { test } from 'node:test'
import { curl, insertSnippet, supabaseJS } from './snippets.ts'

const shown = { api: 'http://127.0.0.1:8090/', viewer: undefined, schema: 'public', table: 'todos', filters: [], sort: [] }

test('code holds the key where it is known, and says what stands for it where not', () => {
  assert.equal(curl({ ...shown, key: "a'b" }), `curl 'http://127.0.0.1:8090/rest/v1/todos?select=*' \\\n  -H 'apikey: a'\\''b' \\\n  -H 'Authorization: Bearer a'\\''b'`)
  assert.match(curl({ ...shown, key: undefined }), /-H "apikey: \$ANON_KEY" \\\n {2}-H "Authorization: Bearer \$ANON_KEY"/)
  assert.match(supabaseJS({ ...shown, key: 'k"' }), /createClient\("http:\/\/127\.0\.0\.1:8090", "k\\""\)/)
  assert.match(supabaseJS({ ...shown, key: undefined }), /createClient\("http:\/\/127\.0\.0\.1:8090", ANON_KEY\)/)
  assert.match(curl({ ...shown, key: 'k', viewer: { role: 'authenticated' } }), /-H 'apikey: k' \\\n {2}-H "Authorization: Bearer \$ACCESS_TOKEN"/)
  assert.match(supabaseJS({ ...shown, key: 'k', viewer: { role: 'authenticated', user: 'u', label: '4912345' } }), /signInWithPassword\(\{ phone: "4912345", password: PASSWORD \}\)/)
  assert.match(supabaseJS({ ...shown, key: 'k', viewer: { role: 'authenticated' } }), /signInWithPassword\(\{ email: EMAIL, password: PASSWORD \}\)/)
  assert.match(supabaseJS({ ...shown, key: 'k', viewer: { role: 'service_role' } }), /createClient\("[^"]*", SERVICE_KEY\)/)
  assert.match(supabaseJS({ ...shown, key: 'k', filters: [{ column: 'a.b', op: 'eq', value: '1' }], sort: [{ column: 'Größe', descending: false }] }), /\.eq\("\\"a\.b\\"", "1"\)\n {2}\.order\("Größe"\)/)
  assert.match(insertSnippet('http://127.0.0.1:8090', 'k', undefined, 'todos', ['id']), /-H 'apikey: k' \\\n {2}-H 'Authorization: Bearer k' \\\n {2}-H 'Content-Type/)
})
