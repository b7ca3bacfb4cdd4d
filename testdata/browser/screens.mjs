// The screens as they are looked at: for the pictures of `make screenshots` and for axe. A screen is added by a line.
// `seed` fills the database once; `prepare` brings an opened page into the state that is to be seen.
import { seed as operation } from './operation.seed.mjs'

export const screens = [
  { name: 'logs-empty', path: '/logs?text=nothing-has-this' },
  { name: 'home', path: '/', seed: operation, prepare: async (page) => { await page.locator('.u-over').nth(1).waitFor() } },
  { name: 'logs', path: '/logs' },
  { name: 'logs-detail', path: '/logs?status=errors', prepare: async (page) => { await page.getByRole('region', { name: 'Requests', exact: true }).getByRole('link').first().click(); await page.getByRole('dialog', { name: 'Request' }).waitFor() } },
  { name: 'logs-accounts', path: '/logs?tab=accounts' },
  { name: 'logs-audit', path: '/logs?tab=audit' },
  { name: 'performance', path: '/performance' },
  { name: 'performance-indexes', path: '/performance?tab=indexes' },
  { name: 'performance-tables', path: '/performance?tab=tables' },
  { name: 'performance-activity', path: '/performance?tab=activity' },
  { name: 'sign-in', path: '/sign-in', signedIn: false },
  { name: 'join', path: '/join#token=none', signedIn: false },
  { name: 'account', path: '/account' },
  { name: 'administrators', path: '/administrators' },
  { name: 'settings', path: '/settings/accounts-and-sessions' },
  { name: 'signing-keys', path: '/settings/signing-keys' },
  { name: 'about', path: '/settings/about' },
  { name: 'not-found', path: '/nowhere' },
  { name: 'palette', path: '/account', prepare: async (page) => { await page.keyboard.press('Control+k'); await page.getByRole('combobox').waitFor() } },
  { name: 'view-as', path: '/account', prepare: async (page) => { await page.getByRole('button', { name: /seen as/ }).click(); await page.getByText('See data as').waitFor() } },
  { name: 'keys', path: '/account', prepare: async (page) => { await page.keyboard.press('Shift+?'); await page.getByRole('dialog', { name: 'Keys' }).waitFor() } },
]
