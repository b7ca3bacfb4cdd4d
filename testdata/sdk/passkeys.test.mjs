// Passkeys and authenticators as second factors, by the calls that a page makes, with an emulated authenticator.
import { after, before, test } from 'node:test'
import assert from 'node:assert/strict'
import emulation from 'nid-webauthn-emulator'
import { haveWalked } from './methods.mjs'
import { start } from './server.mjs'

const origin = 'https://app.example.com'
const password = 'a long enough pass phrase'
let basalt, ada, phone, admin, emulator

// What the library looks for to know a browser that has WebAuthn.
class PublicKeyCredential {
  constructor(credential) {
    Object.assign(this, credential, { toJSON: () => credential.toJSON() })
  }
}

before(async () => {
  basalt = await start('--passkeys', `--site-url=${origin}`)
  ada = basalt.client()
  phone = basalt.client()
  admin = basalt.client(basalt.keys.SERVICE_ROLE_KEY).auth.admin
  const { error } = await ada.auth.signUp({ email: 'ada@example.com', password })
  assert.ifError(error)
  // From here on the library finds itself on a page.
  emulator = new emulation.default()
  const credentials = {
    create: async (options) => new PublicKeyCredential(emulator.create(origin, options)),
    get: async (options) => new PublicKeyCredential(emulator.get(origin, options)),
  }
  for (const [name, value] of Object.entries({ window: { PublicKeyCredential, location: new URL(origin) }, document: {}, navigator: { credentials }, PublicKeyCredential })) {
    Object.defineProperty(globalThis, name, { value, configurable: true })
  }
})

after(() => basalt?.stop())

test('a user registers a passkey and signs in with nothing else', async () => {
  const made = await ada.auth.registerPasskey()
  assert.ifError(made.error)
  assert.ok(made.data.id)
  const { data, error } = await phone.auth.signInWithPasskey()
  assert.ifError(error)
  assert.equal(data.user.email, 'ada@example.com')
  const { data: { user } } = await phone.auth.getUser()
  assert.equal(user.id, data.user.id)
})

test('passkeys are listed, renamed and removed', async () => {
  const list = await ada.auth.passkey.list()
  assert.ifError(list.error)
  assert.equal(list.data.length, 1)
  assert.ok(list.data[0].last_used_at)
  const [{ id }] = list.data
  const renamed = await ada.auth.passkey.update({ passkeyId: id, friendlyName: 'phone' })
  assert.ifError(renamed.error)
  assert.equal(renamed.data.friendly_name, 'phone')
  const userId = (await ada.auth.getUser()).data.user.id
  assert.equal((await admin.passkey.listPasskeys({ userId })).data[0].friendly_name, 'phone')
  assert.ifError((await ada.auth.passkey.delete({ passkeyId: id })).error)
  assert.deepEqual((await ada.auth.passkey.list()).data, [])
  assert.equal((await phone.auth.signInWithPasskey()).error.code, 'webauthn_verification_failed')
})

test('an administrator removes the passkey of a user', async () => {
  const { data: { id } } = await ada.auth.registerPasskey()
  const userId = (await ada.auth.getUser()).data.user.id
  assert.ifError((await admin.passkey.deletePasskey({ userId, passkeyId: id })).error)
  assert.deepEqual((await ada.auth.passkey.list()).data, [])
})

test('an authenticator is a second factor', async () => {
  const registered = await ada.auth.mfa.webauthn.register({ friendlyName: 'key' })
  assert.ifError(registered.error)
  assert.equal((await ada.auth.mfa.getAuthenticatorAssuranceLevel()).data.currentLevel, 'aal2')
  assert.ifError((await phone.auth.signInWithPassword({ email: 'ada@example.com', password })).error)
  const level = await phone.auth.mfa.getAuthenticatorAssuranceLevel()
  assert.deepEqual([level.data.currentLevel, level.data.nextLevel], ['aal1', 'aal2'])
  const { data: factors } = await phone.auth.mfa.listFactors()
  const { error } = await phone.auth.mfa.webauthn.authenticate({ factorId: factors.webauthn[0].id })
  assert.ifError(error)
  assert.equal((await phone.auth.mfa.getAuthenticatorAssuranceLevel()).data.currentLevel, 'aal2')
})

test('a page may take the steps of a passkey by itself', async () => {
  const client = basalt.client()
  assert.ifError((await client.auth.signUp({ email: 'bob@example.com', password })).error)
  const begun = await client.auth.passkey.startRegistration()
  assert.ifError(begun.error)
  const credential = emulator.createJSON(origin, begun.data.options)
  const made = await client.auth.passkey.verifyRegistration({ challengeId: begun.data.challenge_id, credential })
  assert.ifError(made.error)
  assert.ok(made.data.id)
  const again = await client.auth.passkey.verifyRegistration({ challengeId: begun.data.challenge_id, credential })
  assert.equal(again.error.code, 'webauthn_challenge_not_found')

  const asked = await phone.auth.passkey.startAuthentication()
  assert.ifError(asked.error)
  const proof = emulator.getJSON(origin, { ...asked.data.options, allowCredentials: [{ type: 'public-key', id: credential.id }] })
  const { data, error } = await phone.auth.passkey.verifyAuthentication({ challengeId: asked.data.challenge_id, credential: proof })
  assert.ifError(error)
  assert.equal(data.user.email, 'bob@example.com')
  assert.equal((await phone.auth.getUser()).data.user.id, data.user.id)
})

test('a page may take the steps of a second factor by itself', async () => {
  const client = basalt.client()
  assert.ifError((await client.auth.signUp({ email: 'cleo@example.com', password })).error)
  const enrolled = await client.auth.mfa.webauthn.enroll({ friendlyName: 'key' })
  assert.ifError(enrolled.error)
  const factorId = enrolled.data.id, at = { rpId: new URL(origin).hostname, rpOrigins: [origin] }
  assert.equal((await client.auth.mfa.listFactors()).data.all[0].status, 'unverified')
  const challenged = await client.auth.mfa.webauthn.challenge({ factorId, webauthn: at })
  assert.ifError(challenged.error)
  const { challengeId, webauthn } = challenged.data
  const { data, error } = await client.auth.mfa.webauthn.verify({ factorId, challengeId, webauthn: { ...at, ...webauthn } })
  assert.ifError(error)
  assert.equal(data.user.factors[0].status, 'verified')
  assert.equal((await client.auth.mfa.getAuthenticatorAssuranceLevel()).data.currentLevel, 'aal2')
})

test('the methods that this file is to walk were walked', () => haveWalked(import.meta.filename))
