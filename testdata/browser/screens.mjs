// The screens as they are looked at: for the pictures of `make screenshots` and for axe. A screen is added by a line.
// `seed` fills the database once; `prepare` brings an opened page into the state that is to be seen.
const sql = async (page, text, keys = 'Control+Enter') => {
  await page.getByRole('textbox', { name: 'SQL' }).click()
  await page.keyboard.insertText(text)
  await page.keyboard.press('Escape')
  await page.keyboard.press(keys)
}
const planets = (world) => world.sql(`
  create table if not exists public.planets (id bigint primary key generated always as identity, name text not null, mass numeric, seen timestamptz default now());
  create table if not exists public.moons (id bigint primary key, planet_id bigint references public.planets, label text);
  insert into public.planets (name, mass) select 'planet ' || n, n * 1.10 from generate_series(1, 3000) n;
  insert into public.moons select n, n % 3000 + 1, 'moon ' || n from generate_series(1, 20000) n on conflict do nothing;
  analyze`)
import { seed as operation } from './operation.seed.mjs'
import { ada, seed as seedPolicies } from './policies.seed.mjs'

export const screens = [
  { name: 'tables', path: '/tables' },
  { name: 'api', path: '/explore' },
  { name: 'api-accounts', path: '/explore/auth' },
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
  { name: 'policies', path: '/policies', seed: seedPolicies },
  { name: 'policies-table', path: '/policies/public/profiles' },
  { name: 'policy-editor', path: '/policies/public/profiles?new=tenant' },
  { name: 'policy-tester', path: `/policies/public/profiles?tab=tester&run=true&user=${ada}` },
  { name: 'policy-findings', path: '/policies/findings' },
  { name: 'administrators', path: '/administrators' },
  { name: 'users', path: '/users', seed: seedUsers },
  { name: 'outbox', path: '/outbox' },
  { name: 'sql-empty', path: '/sql' },
  { name: 'sql', path: '/sql', seed: planets, prepare: async (page) => { await sql(page, "-- The heaviest planets with their moons\nselect p.id, p.name, p.mass, count(m.id) as moons, p.seen\nfrom planets p\nleft join moons m on m.planet_id = p.id\ngroup by p.id\norder by p.mass desc;\n\ndo $$ begin raise notice 'counted'; end $$;\n\nselect name, length(name) from planets where id < 50;", 'Control+Shift+Enter'); await page.getByRole('columnheader').nth(1).waitFor() } },
  { name: 'sql-mistake', path: '/sql', prepare: async (page) => { await sql(page, 'select nam, mass\nfrom planets\nwhere mass > 10;'); await page.getByRole('alert').waitFor() } },
  { name: 'sql-plan', path: '/sql', prepare: async (page) => { await page.getByRole('textbox', { name: 'SQL' }).click(); await page.keyboard.insertText("select p.name, count(*), (select max(id) from moons)\nfrom planets p\njoin moons m on m.planet_id = p.id and m.id % 2 = 0\ngroup by p.name\norder by 2 desc\nlimit 10;"); await page.keyboard.press('Escape'); await page.getByRole('button', { name: 'Explain' }).click(); await page.getByRole('menuitem', { name: /measure/ }).click(); await page.getByText('Execution').waitFor() } },
  { name: 'sql-history', path: '/sql?library=history', prepare: async (page) => { await page.getByRole('dialog').getByRole('button', { name: /planets/ }).first().waitFor() } },
  { name: 'settings', path: '/settings/accounts-and-sessions' },
  { name: 'providers', path: '/settings/providers', seed: seedProviders },
  { name: 'provider', path: '/settings/providers?provider=google' },
  { name: 'provider-new', path: '/settings/providers?custom=new' },
  { name: 'provider-own', path: '/settings/providers?custom=custom:acme' },
  { name: 'provider-saml', path: '/settings/providers?saml=new' },
  { name: 'mail-templates', path: '/settings/mail' },
  { name: 'mail-template', path: '/settings/mail/en/confirmation', prepare: async (page) => { await page.locator('iframe').waitFor() } },
  { name: 'mail-layout', path: '/settings/mail/en/layout', prepare: async (page) => { await page.locator('iframe').waitFor() } },
  { name: 'signing-keys', path: '/settings/signing-keys' },
  { name: 'about', path: '/settings/about' },
  { name: 'not-found', path: '/nowhere' },
  { name: 'palette', path: '/account', prepare: async (page) => { await page.keyboard.press('Control+k'); await page.getByRole('combobox').waitFor() } },
  { name: 'view-as', path: '/account', prepare: async (page) => { await page.getByRole('button', { name: /seen as/ }).click(); await page.getByText('See data as').waitFor() } },
  { name: 'keys', path: '/account', prepare: async (page) => { await page.keyboard.press('Shift+?'); await page.getByRole('dialog', { name: 'Keys' }).waitFor() } },
  { name: 'structure', path: '/structure', seed: (world) => world.sql(`create schema if not exists shop; create table if not exists shop.customers (id bigint generated by default as identity primary key, name text not null); create table if not exists shop.orders (id bigint generated by default as identity primary key, customer_id bigint references shop.customers, note text default 'x')`) },
  { name: 'structure-table', path: '/structure/shop/orders' },
  { name: 'structure-keys', path: '/structure/shop/orders?tab=keys' },
  { name: 'structure-create', path: '/structure?schema=shop&do=create-table', prepare: async (page) => { await page.getByRole('textbox', { name: 'Name', exact: true }).fill('invoices') } },
  { name: 'structure-alter', path: '/structure/shop/orders?do=alter-column&of=note', prepare: async (page) => { await page.getByRole('checkbox', { name: /^Required/ }).check() } },
  { name: 'structure-drop', path: '/structure/shop/customers?do=drop-table', prepare: async (page) => { await page.getByText('foreign key shop.orders').waitFor() } },
  { name: 'diagram', path: '/diagram?schema=shop' },
]

function seedUsers(world) {
  return world.sql(`
insert into auth.users (id, aud, role, email, created_at, last_sign_in_at, email_confirmed_at, banned_until)
select gen_random_uuid(), 'authenticated', 'authenticated', 'user' || n || '@example.com', now() - n * interval '1 hour', now() - n * interval '1 minute',
  case when n % 3 > 0 then now() end, case when n % 7 = 0 then now() + interval '1 day' end
from generate_series(1, 40) as n`)
}

function seedProviders(world) {
  return world.sql(`
insert into auth.custom_oauth_providers (id, provider_type, identifier, name, client_id, client_secret, issuer, scopes, authorization_params)
values (gen_random_uuid(), 'oidc', 'custom:acme', 'Acme Ltd', 'basalt', 'x', 'https://id.acme.example', '{groups}', '{"prompt": "login"}')
on conflict do nothing`)
}
