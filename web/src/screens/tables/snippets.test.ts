import assert from 'node:assert/strict'
import { test } from 'node:test'
import { curl, insertSnippet, supabaseJS } from './snippets.ts'

const shown = { api: 'http://127.0.0.1:8090/', schema: 'public', table: 'todos', filters: [], sort: [] }

test('code holds the key where it is known, and says what stands for it where not', () => {
  assert.equal(curl({ ...shown, key: "a'b" }), `curl 'http://127.0.0.1:8090/rest/v1/todos?select=*' \\\n  -H 'apikey: a'\\''b' \\\n  -H 'Authorization: Bearer a'\\''b'`)
  assert.match(curl({ ...shown, key: undefined }), /-H "apikey: \$ANON_KEY" \\\n {2}-H "Authorization: Bearer \$ANON_KEY"/)
  assert.match(supabaseJS({ ...shown, key: 'k"' }), /createClient\("http:\/\/127\.0\.0\.1:8090", "k\\""\)/)
  assert.match(supabaseJS({ ...shown, key: undefined }), /createClient\("http:\/\/127\.0\.0\.1:8090", ANON_KEY\)/)
  assert.match(insertSnippet('http://127.0.0.1:8090', 'k', 'todos', ['id']), /-H 'apikey: k' \\\n {2}-H 'Authorization: Bearer k' \\\n {2}-H 'Content-Type/)
})
