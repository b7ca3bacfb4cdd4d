// The screens, a line each, in the order of the rail. A screen is loaded when it is opened.
import type { Component } from 'svelte'
import type { IconName } from '../kit/icons.ts'
import type { Role } from './session.svelte.ts'
import type { Params } from './router.svelte.ts'

/** What a screen is given: the parameters of its address. */
export interface ScreenProps<P extends string> { params: Params<P> }

export interface Route {
  pattern: string
  title: string
  load: () => Promise<{ default: Component<{ params: never }> }>
  /** Its place in the rail; screens without one are reached from others. */
  icon?: IconName
  /** The keys that open it, after `g`. */
  key?: string
  /** Who may open it; everybody who is signed in when not said. */
  least?: Role
}

function screen<P extends string>(pattern: P, title: string, load: () => Promise<{ default: Component<ScreenProps<P>> | Component }>, more: Pick<Route, 'icon' | 'key' | 'least'> = {}): Route {
  return { pattern, title, load: load as unknown as Route['load'], ...more }
}

export const routes: readonly Route[] = [
  screen('/', 'Home', () => import('../screens/home/Home.svelte'), { icon: 'house', key: 'h' }),
  screen('/tables', 'Tables', () => import('../screens/tables/Tables.svelte'), { icon: 'table-2', key: 't' }),
  screen('/tables/:schema/:table', 'Tables', () => import('../screens/tables/Tables.svelte')),
  screen('/structure', 'Structure', () => import('../screens/structure/Structure.svelte'), { icon: 'table-properties', key: 'd' }),
  screen('/structure/views', 'Views', () => import('../screens/structure/Views.svelte')),
  screen('/structure/enums', 'Enums', () => import('../screens/structure/Enums.svelte')),
  screen('/structure/functions', 'Functions', () => import('../screens/structure/Functions.svelte')),
  screen('/structure/:schema/:table', 'Structure of a table', () => import('../screens/structure/Table.svelte')),
  screen('/diagram', 'Schema diagram', () => import('../screens/diagram/Diagram.svelte'), { icon: 'network' }),
  screen('/policies', 'Policies', () => import('../screens/policies/Policies.svelte'), { icon: 'shield', key: 'p' }),
  screen('/policies/findings', 'Findings', () => import('../screens/policies/Findings.svelte')),
  screen('/policies/:schema/:table', 'Policies', () => import('../screens/policies/TablePolicies.svelte')),
  screen('/sql', 'SQL', () => import('../screens/sql/Sql.svelte'), { icon: 'square-terminal', key: 'q' }),
  screen('/explore', 'API', () => import('../screens/explore/Overview.svelte'), { icon: 'braces', key: 'x' }),
  screen('/explore/auth', 'Authentication API', () => import('../screens/explore/Accounts.svelte')),
  screen('/explore/:schema/:relation', 'API', () => import('../screens/explore/Relation.svelte')),
  screen('/explore/functions/:schema/:name', 'API', () => import('../screens/explore/Call.svelte')),
  screen('/users', 'Users', () => import('../screens/users/Users.svelte'), { icon: 'users', key: 'u' }),
  screen('/users/:id', 'User', () => import('../screens/users/User.svelte')),
  screen('/outbox', 'Outbox', () => import('../screens/outbox/Outbox.svelte'), { icon: 'mail', key: 'o', least: 'editor' }),
  screen('/logs', 'Logs', () => import('../screens/logs/Logs.svelte'), { icon: 'logs', key: 'l' }),
  screen('/performance', 'Performance', () => import('../screens/performance/Performance.svelte'), { icon: 'gauge', key: 'f' }),
  screen('/administrators', 'Administrators', () => import('../screens/administrators/Administrators.svelte'), { icon: 'shield-user', key: 'a', least: 'owner' }),
  screen('/settings', 'Settings', () => import('../screens/settings/Settings.svelte'), { icon: 'settings', key: ',', least: 'owner' }),
  screen('/settings/:section', 'Settings', () => import('../screens/settings/Settings.svelte'), { least: 'owner' }),
  screen('/settings/mail/:language/:name', 'Mail template', () => import('../screens/settings/mail/MailTemplate.svelte'), { least: 'owner' }),
  screen('/account', 'Your account', () => import('../screens/account/Account.svelte')),
]
