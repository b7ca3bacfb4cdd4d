// How apps in several languages reach this server.
import type { Language } from '../../kit/highlight.ts'

interface Snippet { value: string, label: string, language: Language, install: string, code: (url: string, key: string) => string }

/** A text as a literal between double quotes, as all these languages read it. */
const quoted = (text: string) => JSON.stringify(text)

export const snippets: readonly Snippet[] = [
  {
    value: 'js', label: 'JavaScript', language: 'js', install: 'npm install @supabase/supabase-js',
    code: (url, key) => `import { createClient } from "@supabase/supabase-js"

const db = createClient(${quoted(url)}, ${quoted(key)})

const { data, error } = await db.from("todos").select()`,
  },
  {
    value: 'dart', label: 'Dart', language: 'js', install: 'flutter pub add supabase_flutter',
    code: (url, key) => `import "package:supabase_flutter/supabase_flutter.dart";

await Supabase.initialize(
  url: ${quoted(url)},
  publishableKey: ${quoted(key)},
);

final rows = await Supabase.instance.client.from("todos").select();`,
  },
  {
    value: 'swift', label: 'Swift', language: 'js', install: 'https://github.com/supabase/supabase-swift',
    code: (url, key) => `import Supabase

let db = SupabaseClient(
  supabaseURL: URL(string: ${quoted(url)})!,
  supabaseKey: ${quoted(key)}
)

let rows: [Todo] = try await db.from("todos").select().execute().value`,
  },
  {
    value: 'kotlin', label: 'Kotlin', language: 'js', install: `implementation(platform("io.github.jan-tennert.supabase:bom:3.9.0"))
implementation("io.github.jan-tennert.supabase:auth-kt")
implementation("io.github.jan-tennert.supabase:postgrest-kt")
// and an engine of Ktor 3, such as io.ktor:ktor-client-okhttp`,
    code: (url, key) => `val db = createSupabaseClient(
  supabaseUrl = ${quoted(url)},
  supabaseKey = ${quoted(key)},
) {
  install(Auth)
  install(Postgrest)
}

val rows = db.from("todos").select().decodeList<Todo>()`,
  },
  {
    value: 'python', label: 'Python', language: 'js', install: 'pip install supabase',
    code: (url, key) => `from supabase import create_client

db = create_client(${quoted(url)}, ${quoted(key)})

rows = db.table("todos").select("*").execute().data`,
  },
  {
    value: 'curl', label: 'curl', language: 'shell', install: '',
    code: (url, key) => `curl '${url}/rest/v1/todos?select=*' \\
  -H 'apikey: ${key}' \\
  -H 'Authorization: Bearer ${key}'`,
  },
]
