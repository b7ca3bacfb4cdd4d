// The screens as they are looked at: for the pictures of `make screenshots` and for axe. A screen is added by a line.
// `seed` fills the database once; `prepare` brings an opened page into the state that is to be seen.
import { ada, seed as seedPolicies } from './policies.seed.mjs'

export const screens = [
  { name: 'sign-in', path: '/sign-in', signedIn: false },
  { name: 'join', path: '/join#token=none', signedIn: false },
  { name: 'account', path: '/account' },
  { name: 'policies', path: '/policies', seed: seedPolicies },
  { name: 'policies-table', path: '/policies/public/profiles' },
  { name: 'policy-editor', path: '/policies/public/profiles?new=tenant' },
  { name: 'policy-tester', path: `/policies/public/profiles?tab=tester&run=true&user=${ada}` },
  { name: 'policy-findings', path: '/policies/findings' },
  { name: 'administrators', path: '/administrators' },
  { name: 'users', path: '/users', seed: seedUsers },
  { name: 'outbox', path: '/outbox' },
  { name: 'settings', path: '/settings/accounts-and-sessions' },
  { name: 'signing-keys', path: '/settings/signing-keys' },
  { name: 'about', path: '/settings/about' },
  { name: 'not-found', path: '/nowhere' },
  { name: 'palette', path: '/account', prepare: async (page) => { await page.keyboard.press('Control+k'); await page.getByRole('combobox').waitFor() } },
  { name: 'view-as', path: '/account', prepare: async (page) => { await page.getByRole('button', { name: /seen as/ }).click(); await page.getByText('See data as').waitFor() } },
  { name: 'keys', path: '/account', prepare: async (page) => { await page.keyboard.press('Shift+?'); await page.getByRole('dialog', { name: 'Keys' }).waitFor() } },
]

function seedUsers(world) {
  return world.sql(`
insert into auth.users (id, aud, role, email, created_at, last_sign_in_at, email_confirmed_at, banned_until)
select gen_random_uuid(), 'authenticated', 'authenticated', 'user' || n || '@example.com', now() - n * interval '1 hour', now() - n * interval '1 minute',
  case when n % 3 > 0 then now() end, case when n % 7 = 0 then now() + interval '1 day' end
from generate_series(1, 40) as n`)
}
