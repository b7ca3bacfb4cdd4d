// How apps in several languages get the library that reaches this server.
import { languageNames, languages, type CodeLanguage } from '../explore/code/place.ts'

export const tabs = languages.map((value) => ({ value, label: languageNames[value] }))

export const install: Record<CodeLanguage, string> = {
  javascript: 'npm install @supabase/supabase-js',
  curl: '',
  dart: 'flutter pub add supabase_flutter',
  python: 'pip install supabase',
  swift: 'https://github.com/supabase/supabase-swift',
  kotlin: `implementation(platform("io.github.jan-tennert.supabase:bom:3.9.0"))
implementation("io.github.jan-tennert.supabase:auth-kt")
implementation("io.github.jan-tennert.supabase:postgrest-kt")
// and an engine of Ktor 3, such as io.ktor:ktor-client-okhttp`,
}
