// A passkey of an administrator, held by an authenticator that Chromium makes up (WebAuthn of the DevTools protocol):
// everything between the button and the row in the database is real.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { owner, start } from './world.mjs'

let world
before(async () => { world = await start() })
after(() => world?.stop())

test('an administrator adds a passkey, signs in by it alone, and removes it', { timeout: 120_000 }, async () => {
  // Passkeys belong to names, and not to addresses.
  const url = new URL('/admin/', world.url)
  url.hostname = 'localhost'
  const context = await world.window({ baseURL: url.href, signedIn: false })
  await world.signIn(context)
  const page = await context.newPage()
  const devtools = await context.newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', { options: {
    protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true,
  } })

  await page.goto(new URL('account', url).href)
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByRole('table', { name: 'Passkeys' }).getByRole('row').nth(1).waitFor()
  const { credentials } = await devtools.send('WebAuthn.getCredentials', { authenticatorId })
  assert.deepEqual(credentials.map((key) => [key.isResidentCredential, key.rpId]), [[true, 'localhost']])

  const signOut = async () => {
    await context.clearCookies()
    await page.goto(new URL('sign-in', url).href)
  }
  await signOut()
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByRole('navigation', { name: 'Screens' }).first().waitFor()
  const { rows } = await world.sql(`select count(*)::int as used from basalt.administrator_passkeys where last_used_at is not null`)
  assert.equal(rows[0].used, 1)

  // Whoever holds the device and cannot unlock it stays outside.
  await signOut()
  await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByRole('alert').first().waitFor()
  assert.equal((await context.cookies()).length, 0)
  await devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })

  await world.signIn(context)
  await page.goto(new URL('account', url).href)
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('table', { name: 'Passkeys' }).waitFor({ state: 'detached' })
  await signOut()
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByRole('alert').first().waitFor()
  await world.signIn(context, owner) // the password is still good
  await context.close()
})
