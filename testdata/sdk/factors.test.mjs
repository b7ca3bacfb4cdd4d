// Second factors, as the client library asks for them.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import { AuthClient } from '@supabase/supabase-js'
import { haveWalked, watched } from './methods.mjs'
import { start } from './server.mjs'

let basalt
const password = 'correct horse battery'

before(async () => {
  basalt = await start('--limits', 'off')
})
after(() => basalt.stop())

function client(key = basalt.keys.ANON_KEY) {
  return watched(new AuthClient({
    url: `${basalt.url}/auth/v1`, headers: { apikey: key, Authorization: `Bearer ${key}` }, storageKey: crypto.randomUUID(),
    persistSession: false, autoRefreshToken: false, detectSessionInUrl: false, experimental: { recoveryCodes: true },
  }))
}

function good({ data, error }) {
  assert.ifError(error)
  return data
}

// What an authenticator app shows (RFC 6238), or will show so many steps later.
function code(secret, later = 0) {
  const bits = [...secret].map((c) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(c).toString(2).padStart(5, '0')).join('')
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)))
  const step = Buffer.alloc(8)
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30000) + later))
  const mac = createHmac('sha1', key).update(step).digest()
  const at = mac[19] & 15
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 1e6).padStart(6, '0')
}

async function level(auth) {
  const { currentLevel, nextLevel } = good(await auth.mfa.getAuthenticatorAssuranceLevel())
  return `${currentLevel} ${nextLevel}`
}

async function enrolled(email) {
  const auth = client()
  good(await auth.signUp({ email, password }))
  const { id, totp } = good(await auth.mfa.enroll({ factorType: 'totp', friendlyName: 'app' }))
  return { auth, id, totp }
}

test('enroll, challenge and verify raise a session, unenroll lowers it', async () => {
  const { auth, id, totp } = await enrolled('ann@example.com')
  assert.match(totp.qr_code, /^data:image\/svg\+xml;utf-8,<svg/)
  assert.match(totp.uri, /^otpauth:\/\/totp\//)
  assert.equal(await level(auth), 'aal1 aal1')
  const challenge = good(await auth.mfa.challenge({ factorId: id }))
  assert.equal((await auth.mfa.verify({ factorId: id, challengeId: challenge.id, code: '000000x' })).error.code, 'mfa_verification_failed')
  const session = good(await auth.mfa.verify({ factorId: id, challengeId: challenge.id, code: code(totp.secret) }))
  assert.equal(session.user.factors[0].status, 'verified')
  assert.equal(await level(auth), 'aal2 aal2')
  assert.equal(good(await auth.mfa.listFactors()).totp.length, 1)
  good(await auth.refreshSession())
  assert.equal(await level(auth), 'aal2 aal2')
  assert.equal(good(await auth.mfa.unenroll({ factorId: id })).id, id)
  good(await auth.refreshSession())
  assert.equal(await level(auth), 'aal1 aal1')
})

test('recovery codes are generated, counted, used, made anew and given up', async () => {
  const { auth, id, totp } = await enrolled('bob@example.com')
  assert.equal((await auth.mfa.recoveryCodes.getStatus()).error.code, 'mfa_factor_not_found')
  assert.equal((await auth.mfa.recoveryCodes.generate()).error.code, 'insufficient_aal')
  good(await auth.mfa.challengeAndVerify({ factorId: id, code: code(totp.secret) }))
  const { codes } = good(await auth.mfa.recoveryCodes.generate({ friendlyName: 'on paper' }))
  assert.equal(codes.length, 10)
  const other = client()
  good(await other.signInWithPassword({ email: 'bob@example.com', password }))
  assert.equal(await level(other), 'aal1 aal2')
  good(await other.mfa.recoveryCodes.verify({ code: codes[0].toUpperCase() }))
  assert.equal(await level(other), 'aal2 aal2')
  assert.equal((await other.mfa.recoveryCodes.verify({ code: codes[0] })).error.code, 'mfa_verification_failed')
  assert.equal(good(await other.mfa.recoveryCodes.getStatus()).remaining, 9)
  assert.notDeepEqual(good(await other.mfa.recoveryCodes.regenerate()).codes, codes)
  assert.equal(good(await other.mfa.listFactors()).recovery_code[0].friendly_name, 'on paper')
  good(await other.mfa.recoveryCodes.unenroll())
})

test('a server goes on while its encryption key is replaced', async () => {
  const { auth, id, totp } = await enrolled('eve@example.com')
  good(await auth.mfa.challengeAndVerify({ factorId: id, code: code(totp.secret) }))
  const kept = async () => (await basalt.sql('select secret from auth.mfa_factors where id = $1', [id])).rows[0].secret
  const first = await kept()
  assert.match(basalt.run('keys', 'rotate-encryption'), /^\d+ secrets encrypted under the new key\n$/)
  assert.notEqual((await kept()).split(':')[2], first.split(':')[2])
  const other = client()
  good(await other.signInWithPassword({ email: 'eve@example.com', password }))
  good(await other.mfa.challengeAndVerify({ factorId: id, code: code(totp.secret, 1) }))
  good(await other.mfa.enroll({ factorType: 'totp', friendlyName: 'second' }))
})

test('an administrator lists and removes the factors of a user', async () => {
  const { auth, id } = await enrolled('kim@example.com')
  const { user } = good(await auth.getUser())
  const { admin } = client(basalt.keys.SERVICE_ROLE_KEY)
  assert.deepEqual(good(await admin.mfa.listFactors({ userId: user.id })).factors.map((factor) => factor.id), [id])
  good(await admin.mfa.deleteFactor({ userId: user.id, id }))
  assert.deepEqual(good(await admin.mfa.listFactors({ userId: user.id })).factors, [])
})

test('the methods that this file is to walk were walked', () => haveWalked(import.meta.filename))
