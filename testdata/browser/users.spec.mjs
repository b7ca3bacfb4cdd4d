// The users of the app and the outbox: making, finding, changing, banning, inviting, deleting, and mails in their frame.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { expectAccessible, expectNoAxeViolations, settled, start } from './world.mjs'

const hostile = `<img src=x onerror="globalThis.hit=1"><svg onload="globalThis.hit=1">"'\u202Egnp.exe`
let world
before(async () => {
  world = await start()
  await world.sql(`
insert into auth.users (id, aud, role, email, created_at, raw_user_meta_data, raw_app_meta_data, email_confirmed_at)
select gen_random_uuid(), 'authenticated', 'authenticated', 'user' || lpad(n::text, 3, '0') || '@example.com', now() - n * interval '1 minute', '{}', '{}', case when n % 3 > 0 then now() end
from generate_series(1, 60) as n`)
  await world.sql(`
insert into auth.users (id, aud, role, email, created_at, raw_user_meta_data, raw_app_meta_data)
values ('11111111-1111-4111-8111-111111111111', 'authenticated', 'authenticated', $1::text, now() + interval '1 minute', jsonb_build_object('name', $1::text, 'long', repeat('a', 100000), 'big', 12345678901234567890), '{}')`, [hostile])
  await world.sql(`
insert into auth.identities (provider_id, user_id, identity_data, provider, created_at)
values ($1::text, '11111111-1111-4111-8111-111111111111', jsonb_build_object('sub', $1::text), $1::text, now())`, [hostile])
})
after(() => world?.stop())

test('users are paged and found, and the address keeps where one is', { timeout: 90_000 }, async () => {
  const page = await world.open('/users')
  await page.getByText('1–50 of 61').waitFor()
  await page.getByRole('link', { name: 'Next' }).click()
  await page.getByText('51–61 of 61').waitFor()
  await page.reload()
  await page.getByText('51–61 of 61').waitFor()
  await page.goBack()
  await page.getByText('1–50 of 61').waitFor()
  await page.getByLabel('Search').fill('user01')
  await page.getByText('1–10', { exact: true }).waitFor()
  await page.getByRole('combobox', { name: 'Address' }).selectOption('false')
  await page.getByText('1–3', { exact: true }).waitFor()
  assert.match(page.url(), /search=user01.*confirmed=false/)
  await page.getByLabel('Search').fill('nobody')
  await page.getByRole('heading', { name: 'Nobody is like that' }).waitFor()
  await world.close(page)
})

test('the count keeps up with users who come and go elsewhere', { timeout: 60_000 }, async () => {
  const page = await world.open('/users')
  await page.getByText('1–50 of 61').waitFor()
  await page.getByRole('link', { name: 'Next' }).click()
  await page.getByText('51–61 of 61').waitFor()
  const id = '22222222-2222-4222-8222-222222222222'
  await world.sql(`insert into auth.users (id, aud, role, email, created_at) values ('${id}', 'authenticated', 'authenticated', 'late@example.com', now() - interval '1 day')`)
  // The count is asked for again only after a while; the page is not allowed to end behind it meanwhile.
  page.expected = /Failed to load resource: net::ERR_FAILED/
  await page.route('**/users/summary', (route) => route.abort())
  await page.getByRole('button', { name: 'Read again' }).click()
  await page.getByText('51–62 of 62').waitFor()
  await world.sql(`delete from auth.users where id = '${id}'`)
  await page.getByRole('button', { name: 'Read again' }).click()
  await page.getByText('51–61 of 61').waitFor()
  await world.close(page)
})

test('what users write is shown and does nothing', { timeout: 90_000 }, async () => {
  const page = await world.open('/users')
  await page.getByRole('link', { name: '<img src=x' }).click()
  await page.getByRole('heading', { level: 1, name: '<img src=x' }).waitFor()
  assert.ok((await page.getByLabel('User metadata').inputValue()).includes('12345678901234567890'))
  await page.getByRole('tab', { name: 'Identities' }).click()
  await page.getByRole('region', { name: /^Identity <img/ }).waitFor()
  assert.equal(await page.evaluate(() => globalThis.hit), undefined)
  await expectNoAxeViolations(page)
  await world.close(page)
})

test('a user is made, changed, banned and deleted by typing the address', { timeout: 120_000 }, async () => {
  const page = await world.open('/users')
  await page.getByRole('button', { name: 'Create user' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create a user' })
  await dialog.getByRole('textbox', { name: 'E-mail' }).fill('grace@example.com')
  await dialog.getByRole('textbox', { name: 'Password' }).fill('12345678')
  await expectNoAxeViolations(page)
  await page.keyboard.press('Enter')
  await dialog.locator('input[type=password][aria-invalid=true]').waitFor()
  assert.equal(await dialog.getByRole('alert').count(), 0)
  await dialog.getByRole('textbox', { name: 'Password' }).fill('a very long password')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'grace@example.com' }).waitFor()

  await page.getByLabel('App metadata').fill('{"plan":')
  await page.locator('textarea[aria-invalid=true]').waitFor()
  await page.getByLabel('App metadata').fill('{"plan":"pro","limit":9007199254740993}')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved').waitFor()
  assert.match(await page.getByLabel('App metadata').inputValue(), /"limit": 9007199254740993/)

  // A weak password is refused at its field.
  await page.getByLabel('New password').fill('12345678')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('input[type=password][aria-invalid=true]:focus').waitFor()
  assert.equal(await page.getByRole('alert').count(), 0)
  await page.getByRole('button', { name: 'Discard' }).click()
  await page.locator('[aria-invalid=true]').waitFor({ state: 'detached' })

  const action = async (name) => { await page.getByRole('button', { name: 'Actions' }).click(); await page.getByRole('menuitem', { name }).click() }
  await action('Ban…')
  await page.getByRole('dialog', { name: 'Ban this user' }).getByRole('button', { name: 'Ban' }).click()
  await page.getByText('banned', { exact: true }).waitFor()
  await action('Lift the ban')
  await page.getByText('banned', { exact: true }).waitFor({ state: 'detached' })

  await action('Magic link…')
  const link = page.getByRole('dialog', { name: 'A link to pass on' })
  assert.match(await link.getByRole('region', { name: 'Link' }).innerText(), /\/auth\/v1\/verify\?/)
  await expectNoAxeViolations(page)
  await link.getByRole('button', { name: 'Done' }).click()

  await page.getByRole('button', { name: 'View as' }).click()
  const seenAs = page.getByRole('button', { name: /Data are seen as grace@example\.com, in the role authenticated/ })
  await seenAs.waitFor()
  assert.equal((await seenAs.innerText()).trim(), 'seen as grace@example.com')
  await page.goBack()
  await page.getByRole('heading', { level: 1, name: 'grace@example.com' }).waitFor()

  await action('Delete…')
  const sure = page.getByRole('dialog', { name: 'Delete this user?' })
  assert.ok(await sure.getByRole('button', { name: 'Delete' }).isDisabled())
  await sure.getByRole('textbox').fill('grace@example.com')
  await sure.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor()
  const { rows } = await world.sql(`select action from basalt.administrator_audit where action like 'user.%' order by id`)
  assert.deepEqual(rows.map((row) => row.action), ['user.create', 'user.update', 'user.ban', 'user.unban', 'user.link', 'user.delete'])
  await world.close(page)
})

test('an invitation without a mail server waits in the outbox and is read in a frame that does nothing', { timeout: 120_000 }, async () => {
  const page = await world.open('/users?new=invite')
  await page.getByRole('dialog', { name: 'Invite a user' }).getByLabel('E-mail').fill('bob@example.com')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'bob@example.com' }).waitFor()
  await page.goto(new URL('/admin/outbox', world.url).href)
  await page.getByText('No mail server is set').waitFor()
  await page.getByRole('link', { name: 'bob@example.com' }).click()
  const frame = page.locator('iframe')
  await frame.waitFor()
  assert.equal(await frame.getAttribute('sandbox'), '')
  await page.frameLocator('iframe').getByRole('link').first().waitFor()
  await page.getByRole('tab', { name: 'Text' }).click()
  await page.getByRole('region', { name: 'Text of the mail' }).waitFor()
  await page.reload()
  await page.getByRole('region', { name: 'Text of the mail' }).waitFor()
  await expectNoAxeViolations(page)
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.getByText(/cannot be sent again/).waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('heading', { name: 'The outbox is empty' }).waitFor()
  await settled(page)
  await world.close(page)
})

test('axe finds nothing, in both schemes and at all widths', { timeout: 180_000 }, async () => {
  await expectAccessible(world, '/users/11111111-1111-4111-8111-111111111111')
})
