// Sign-ins, sign-ups, recoveries and changes by link and code, as the client library asks for them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { AuthClient } from '@supabase/supabase-js'
import { haveWalked, watched } from './methods.mjs'
import { start } from './server.mjs'

let basalt, service, editor
const password = 'correct horse battery'

before(async () => {
  basalt = await start('--autoconfirm', 'false', '--limits', 'off', '--phone', 'true', '--redirect-urls', 'https://app.example/**')
  service = basalt.client(basalt.keys.SERVICE_ROLE_KEY)
  editor = await basalt.administrator('editor')
})
after(() => basalt.stop())

// What has been sent to an address last, as an administrator finds it where there is no mail server.
async function sentTo(address) {
  const answer = await fetch(`${basalt.url}/admin/api/outbox`, { headers: editor })
  assert.equal(answer.status, 200)
  const message = (await answer.json()).messages.find(({ to, token }) => to === address && token)
  assert.ok(message, `nothing was sent to ${address}`)
  return message
}

function good({ data, error }) {
  assert.ifError(error)
  return data
}

// Where a link leads, without going there.
async function followed(link) {
  const answer = await fetch(link, { redirect: 'manual' })
  assert.equal(answer.status, 303)
  return new URL(answer.headers.get('location'))
}

test('signInWithOtp makes an account, verifyOtp lets its user in once', async () => {
  const client = basalt.client()
  good(await client.auth.signInWithOtp({ email: 'ann@example.com', options: { data: { name: 'Ann' } } }))
  const { token } = await sentTo('ann@example.com')
  const { session, user } = good(await client.auth.verifyOtp({ email: 'ann@example.com', token, type: 'email' }))
  assert.equal(user.user_metadata.name, 'Ann')
  assert.equal(good(await client.auth.getUser(session.access_token)).user.id, user.id)
  const { error } = await client.auth.verifyOtp({ email: 'ann@example.com', token, type: 'email' })
  assert.equal(error.code, 'otp_expired')
  good(await client.auth.signInWithOtp({ email: 'ann@example.com' }))
  const { token_hash } = await sentTo('ann@example.com')
  assert.equal(good(await client.auth.verifyOtp({ token_hash, type: 'magiclink' })).user.id, user.id)
  const unknown = await client.auth.signInWithOtp({ email: 'nobody@example.com', options: { shouldCreateUser: false } })
  assert.equal(unknown.error.code, 'otp_disabled')
})

test('signUp waits for its link, resend sends it once more, and the link leads to the app', async () => {
  const client = basalt.client()
  const { user, session } = good(await client.auth.signUp({ email: 'bob@example.com', password, options: { emailRedirectTo: 'https://app.example/in?a=b' } }))
  assert.equal(session, null)
  assert.equal(user.email_confirmed_at, undefined)
  assert.equal((await client.auth.signInWithPassword({ email: 'bob@example.com', password })).error.code, 'email_not_confirmed')
  good(await client.auth.resend({ type: 'signup', email: 'bob@example.com', options: { emailRedirectTo: 'https://app.example/in?a=b' } }))
  const there = await followed((await sentTo('bob@example.com')).link)
  assert.equal(there.origin + there.pathname + there.search, 'https://app.example/in?a=b')
  const tokens = new URLSearchParams(there.hash.slice(1))
  good(await client.auth.setSession({ access_token: tokens.get('access_token'), refresh_token: tokens.get('refresh_token') }))
  good(await client.auth.signInWithPassword({ email: 'bob@example.com', password }))
})

test('resetPasswordForEmail ends in a code for the client that asked, and in a new password', async () => {
  const store = new Map()
  const storage = { getItem: (k) => store.get(k) ?? null, setItem: (k, v) => void store.set(k, v), removeItem: (k) => void store.delete(k) }
  const auth = watched(new AuthClient({
    url: `${basalt.url}/auth/v1`, headers: { apikey: basalt.keys.ANON_KEY }, flowType: 'pkce', storage, autoRefreshToken: false, detectSessionInUrl: false,
  }))
  good(await auth.resetPasswordForEmail('bob@example.com', { redirectTo: 'https://app.example/reset' }))
  const there = await followed((await sentTo('bob@example.com')).link)
  const { session } = good(await auth.exchangeCodeForSession(there.searchParams.get('code')))
  assert.equal(session.user.email, 'bob@example.com')
  good(await auth.updateUser({ password: `${password} two` }))
  good(await basalt.client().auth.signInWithPassword({ email: 'bob@example.com', password: `${password} two` }))
  const again = await followed((await sentTo('bob@example.com')).link)
  assert.equal(again.searchParams.get('error_code'), 'otp_expired')
})

test('updateUser changes the address when both have confirmed it', async () => {
  const client = basalt.client()
  good(await client.auth.signInWithPassword({ email: 'bob@example.com', password: `${password} two` }))
  const { user } = good(await client.auth.updateUser({ email: 'robert@example.com' }))
  assert.equal(user.new_email, 'robert@example.com')
  const old = await sentTo('bob@example.com')
  const half = good(await client.auth.verifyOtp({ token_hash: old.token_hash, type: 'email_change' }))
  assert.equal(half.session, null)
  const { token } = await sentTo('robert@example.com')
  const whole = good(await client.auth.verifyOtp({ email: 'robert@example.com', token, type: 'email_change' }))
  assert.equal(whole.user.email, 'robert@example.com')
})

test('a telephone number signs up, signs in and changes', async () => {
  const client = basalt.client()
  good(await client.auth.signUp({ phone: '+49 151 23456789', password }))
  const { token } = await sentTo('4915123456789')
  const { user } = good(await client.auth.verifyOtp({ phone: '+4915123456789', token, type: 'sms' }))
  good(await client.auth.signInWithOtp({ phone: '4915123456789' }))
  assert.equal(good(await client.auth.verifyOtp({ phone: '4915123456789', token: (await sentTo('4915123456789')).token, type: 'sms' })).user.id, user.id)
  good(await client.auth.signInWithPassword({ phone: '4915123456789', password }))
  good(await client.auth.updateUser({ phone: '4915100000000' }))
  good(await client.auth.resend({ type: 'phone_change', phone: '4915100000000' }))
  const moved = good(await client.auth.verifyOtp({ phone: '4915100000000', token: (await sentTo('4915100000000')).token, type: 'phone_change' }))
  assert.equal(moved.user.phone, '4915100000000')
})

test('reauthenticate sends a nonce', async () => {
  const client = basalt.client()
  good(await client.auth.signInWithPassword({ email: 'robert@example.com', password: `${password} two` }))
  good(await client.auth.reauthenticate())
  const { kind, token } = await sentTo('robert@example.com')
  assert.equal(kind, 'reauthentication')
  good(await client.auth.updateUser({ password: `${password} three`, nonce: token }))
})

test('an administrator invites and makes links', async () => {
  const { user } = good(await service.auth.admin.inviteUserByEmail('guest@example.com', { data: { team: 'red' }, redirectTo: 'https://app.example/join' }))
  assert.ok(user.invited_at)
  const there = await followed((await sentTo('guest@example.com')).link)
  assert.equal(there.origin + there.pathname, 'https://app.example/join')
  assert.equal(new URLSearchParams(there.hash.slice(1)).get('type'), 'invite')
  const link = good(await service.auth.admin.generateLink({ type: 'magiclink', email: 'guest@example.com', options: { redirectTo: 'https://evil.example' } }))
  assert.equal(link.user.id, user.id)
  assert.equal(link.properties.redirect_to, 'http://localhost:3000')
  assert.equal(link.properties.verification_type, 'magiclink')
  const { session } = good(await basalt.client().auth.verifyOtp({ token_hash: link.properties.hashed_token, type: 'email' }))
  assert.equal(session.user.id, user.id)
  const fresh = good(await service.auth.admin.generateLink({ type: 'signup', email: 'new@example.com', password }))
  good(await basalt.client().auth.verifyOtp({ email: 'new@example.com', token: fresh.properties.email_otp, type: 'signup' }))
  good(await basalt.client().auth.signInWithPassword({ email: 'new@example.com', password }))
})

test('the methods that this file is to walk were walked', () => haveWalked(import.meta.filename))
