import type { Role } from '../../app/session.svelte.ts'

/** The roles of administrators with what each may do, the strongest first. */
export const roles: readonly { role: Role, may: string }[] = [
  { role: 'owner', may: 'Everything: also administrators, keys, settings and the audit log.' },
  { role: 'editor', may: 'Reads and changes data, structure, policies and users. Runs SQL as the owner of the database, and so reaches everything in it.' },
  { role: 'viewer', may: 'Reads. Changes nothing, and runs no SQL of their own.' },
]
