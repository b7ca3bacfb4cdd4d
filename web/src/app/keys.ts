// What an app needs to reach the server, for code that can be copied.
import type { KeysBody } from '../generated/admin.ts'
import { api } from './api.ts'
import type { Wanted } from './query.svelte.ts'

export const keys: Wanted<KeysBody> = { key: ['keys'], read: (signal) => api.get<KeysBody>('/keys', { signal }), fresh: 60_000 }
