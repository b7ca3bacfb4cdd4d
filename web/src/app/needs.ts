// Why an administrator may not do something, in the one wording that all screens use.
import { session, type Role } from './session.svelte.ts'

const atLeast: Readonly<Record<Role, string>> = { viewer: 'viewer', editor: 'editor or owner', owner: 'owner' }

/** Why the administrator may not do what needs a role, undefined when they may or none is needed: for the `refused` of buttons and menus. */
export function needs(least: Role | undefined): string | undefined {
  return !least || session.may(least) ? undefined : `This needs the role ${atLeast[least]}; yours is ${session.administrator.role}.`
}
