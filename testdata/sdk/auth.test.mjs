// What the other files leave of the client library's accounts: visitors, sign-in at other servers, sessions on a
// device, administration. The last test looks that no method of the library is tried by none of them.
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import Provider from 'oidc-provider'
import { start } from './server.mjs'

const password = 'correct horse battery'
const app = 'https://app.example/in'
let basalt, service, server, issuer

function good({ data, error }) {
  assert.ifError(error)
  return data
}

// An OpenID provider at which everybody is whom they say they are.
async function startProvider() {
  server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  issuer = `http://127.0.0.1:${server.address().port}`
  return new Provider(issuer, {
    clients: [
      { client_id: 'basalt', client_secret: 'a secret between the two', redirect_uris: [`${basalt.url}/auth/v1/callback`] },
      { client_id: 'app', token_endpoint_auth_method: 'none', response_types: ['id_token'], grant_types: ['implicit'], redirect_uris: [app] },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, email: `${id}@example.com`, email_verified: true, name: id }) }),
  })
}

before(async () => {
  // The server has to know the provider, and the provider where the server leads people back to.
  basalt = await start('--limits', 'off', '--anonymous-sign-ins', '--manual-linking', '--redirect-urls', app, '--outgoing-allow', '127.0.0.0/8')
  const provider = await startProvider()
  server.on('request', provider.callback())
  service = basalt.client(basalt.keys.SERVICE_ROLE_KEY)
  good(await service.auth.admin.customProviders.createProvider({
    provider_type: 'oidc', identifier: 'custom:house', name: 'House', client_id: 'basalt', client_secret: 'a secret between the two',
    acceptable_client_ids: ['app'], issuer, scopes: ['openid', 'email', 'profile'],
  }))
})
after(async () => {
  await basalt.stop()
  server.closeAllConnections()
  server.close()
})

// A browser: it keeps cookies, follows redirects and fills in the provider's forms until it comes to the app.
async function browse(address, person) {
  const jar = new Map()
  let url = new URL(address), body
  for (let steps = 0; steps < 20; steps++) {
    if (url.href.startsWith(app)) return url
    const answer = await fetch(url, {
      method: body ? 'POST' : 'GET', body, redirect: 'manual',
      headers: { cookie: [...jar].filter(([key]) => key.startsWith(url.host)).map(([key, value]) => `${key.split(' ')[1]}=${value}`).join('; ') },
    })
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)
      jar.set(`${url.host} ${name}`, value)
    }
    body = undefined
    const page = await answer.text()
    const next = answer.headers.get('location')
    if (next) {
      url = new URL(next, url)
      continue
    }
    const action = /action="([^"]+)"/.exec(page)
    assert.ok(action, `${answer.status} ${url}: ${page.slice(0, 500)}`)
    url = new URL(action[1].replaceAll('&amp;', '&'), url)
    body = new URLSearchParams(page.includes('name="login"') ? { prompt: 'login', login: person, password: 'any' } : { prompt: 'consent' })
  }
  assert.fail('the way to the app has no end')
}

async function signedIn(email) {
  const client = basalt.client()
  good(await client.auth.signUp({ email, password }))
  return client
}

test('a visitor without credentials becomes a lasting user by an address', async () => {
  const client = basalt.client()
  const { user, session } = good(await client.auth.signInAnonymously({ options: { data: { cart: 1 } } }))
  assert.equal(user.is_anonymous, true)
  assert.equal(good(await client.auth.getClaims(session.access_token)).claims.is_anonymous, true)
  const lasting = good(await client.auth.updateUser({ email: 'visitor@example.com', password })).user
  assert.equal(lasting.id, user.id)
  assert.equal(lasting.is_anonymous, false)
  assert.equal(good(await basalt.client().auth.signInWithPassword({ email: 'visitor@example.com', password })).user.user_metadata.cart, 1)
})

test('signInWithOAuth leads by way of the provider to a code and a session', async () => {
  const client = basalt.client()
  client.auth.flowType = 'pkce'
  const { url } = good(await client.auth.signInWithOAuth({ provider: 'custom:house', options: { redirectTo: app, skipBrowserRedirect: true } }))
  const back = await browse(url, 'olga')
  const { session, user } = good(await client.auth.exchangeCodeForSession(back.searchParams.get('code')))
  assert.equal(user.email, 'olga@example.com')
  assert.equal(user.app_metadata.provider, 'custom:house')
  assert.ok(session.provider_token)
  assert.ok((await client.auth.exchangeCodeForSession(back.searchParams.get('code'))).error)
})

test('signInWithIdToken believes what the provider has signed, and nothing else', async () => {
  const nonce = 'a nonce of this sign-in'
  const hashed = Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(nonce))).toString('hex')
  const ask = new URL(`${issuer}/auth?${new URLSearchParams({ client_id: 'app', response_type: 'id_token', redirect_uri: app, scope: 'openid email', nonce: hashed })}`)
  const token = new URLSearchParams((await browse(ask, 'ida')).hash.slice(1)).get('id_token')
  const client = basalt.client()
  assert.equal(good(await client.auth.signInWithIdToken({ provider: 'custom:house', token, nonce })).user.email, 'ida@example.com')
  assert.ok((await basalt.client().auth.signInWithIdToken({ provider: 'custom:house', token, nonce: 'another' })).error)
  const [head, , signature] = token.split('.')
  const forged = [head, Buffer.from(JSON.stringify({ sub: 'eve' })).toString('base64url'), signature].join('.')
  assert.ok((await basalt.client().auth.signInWithIdToken({ provider: 'custom:house', token: forged, nonce })).error)
})

test('an identity is linked and unlinked, the last one is not', async () => {
  const client = await signedIn('lena@example.com')
  client.auth.flowType = 'pkce'
  assert.deepEqual(good(await client.auth.getUserIdentities()).identities.map((i) => i.provider), ['email'])
  const { url } = good(await client.auth.linkIdentity({ provider: 'custom:house', options: { redirectTo: app, skipBrowserRedirect: true } }))
  good(await client.auth.exchangeCodeForSession((await browse(url, 'lena-elsewhere')).searchParams.get('code')))
  const { identities } = good(await client.auth.getUserIdentities())
  assert.deepEqual(identities.map((i) => i.provider).sort(), ['custom:house', 'email'])
  good(await client.auth.unlinkIdentity(identities.find((i) => i.provider === 'custom:house')))
  const [last] = good(await client.auth.getUserIdentities()).identities
  assert.equal((await client.auth.unlinkIdentity(last)).error.code, 'single_identity_not_deletable')
})

test('single sign-on of an organisation that is not there is refused', async () => {
  const { error } = await basalt.client().auth.signInWithSSO({ domain: 'nowhere.example' })
  assert.ok(error.status >= 400 && error.status < 500, error)
})

test('a device hears of its session, keeps it fresh and gives it up', async () => {
  const client = basalt.client()
  const heard = []
  const { data: { subscription } } = client.auth.onAuthStateChange((event) => heard.push(event))
  good(await client.auth.initialize().then(({ error }) => ({ data: null, error })))
  good(await client.auth.signUp({ email: 'dora@example.com', password }))
  await client.auth.startAutoRefresh()
  await client.auth.stopAutoRefresh()
  const { session } = good(await client.auth.getSession())
  good(await client.auth.refreshSession())
  assert.notEqual(good(await client.auth.getSession()).session.refresh_token, session.refresh_token)
  good(await client.auth.setSession(good(await client.auth.getSession()).session))
  assert.equal((await client.auth.signOut()).error, null)
  assert.equal(good(await client.auth.getSession()).session, null)
  subscription.unsubscribe()
  for (const event of ['INITIAL_SESSION', 'SIGNED_IN', 'TOKEN_REFRESHED', 'SIGNED_OUT']) assert.ok(heard.includes(event), `${event} in ${heard}`)
  client.auth.dispose?.()
})

test('signOut ends this session, the others, or all', async () => {
  const here = await signedIn('sam@example.com'), there = basalt.client(), third = basalt.client()
  for (const client of [there, third]) good(await client.auth.signInWithPassword({ email: 'sam@example.com', password }))
  assert.equal((await third.auth.signOut({ scope: 'local' })).error, null)
  assert.equal(good(await there.auth.getUser()).user.email, 'sam@example.com')
  assert.equal((await here.auth.signOut({ scope: 'others' })).error, null)
  assert.ok((await there.auth.getUser()).error)
  const { session } = good(await here.auth.getSession())
  assert.equal((await service.auth.admin.signOut(session.access_token, 'global')).error, null)
  assert.ok((await here.auth.getUser(session.access_token)).error)
})

test('an administrator makes, finds, changes, bans and deletes users', async () => {
  const { admin } = service.auth
  const { user } = good(await admin.createUser({ email: 'made@example.com', password, email_confirm: true, user_metadata: { a: 1 } }))
  assert.equal(good(await admin.getUserById(user.id)).user.email, 'made@example.com')
  assert.ok(good(await admin.listUsers({ page: 1, perPage: 200 })).users.some(({ id }) => id === user.id))
  assert.deepEqual(good(await admin.updateUserById(user.id, { app_metadata: { plan: 'pro' } })).user.app_metadata.plan, 'pro')
  good(await admin.updateUserById(user.id, { ban_duration: '24h' }))
  assert.equal((await basalt.client().auth.signInWithPassword({ email: 'made@example.com', password })).error.code, 'user_banned')
  good(await admin.updateUserById(user.id, { ban_duration: 'none' }))
  good(await basalt.client().auth.signInWithPassword({ email: 'made@example.com', password }))
  good(await admin.deleteUser(user.id))
  assert.equal((await admin.getUserById(user.id)).error.code, 'user_not_found')
  assert.equal((await basalt.client().auth.admin.listUsers()).error.status, 403)
})

test('an administrator keeps other servers', async () => {
  const { customProviders } = service.auth.admin
  good(await customProviders.createProvider({ provider_type: 'oidc', identifier: 'custom:second', name: 'Second', client_id: 'c', client_secret: 's', issuer }))
  assert.ok(good(await customProviders.listProviders()).providers.some(({ identifier }) => identifier === 'custom:second'))
  assert.equal(good(await customProviders.updateProvider('custom:second', { name: 'Changed' })).name, 'Changed')
  const found = good(await customProviders.getProvider('custom:second'))
  assert.equal(found.name, 'Changed')
  assert.ok(!JSON.stringify(found).includes('"s"'), 'the secret is shown')
  good(await customProviders.deleteProvider('custom:second'))
  assert.ok((await customProviders.getProvider('custom:second')).error)
})

test('no method of the library was left out', async () => {
  const not = {
    signInWithWeb3: 'Web3 is not offered', signInWithEthereum: 'Web3 is not offered', signInWithSolana: 'Web3 is not offered',
    fetch: 'internal', logger: 'internal', fetchJwk: 'internal, of getClaims', isThrowOnErrorEnabled: 'internal',
    startRegistration: 'part of registerPasskey', verifyRegistration: 'part of registerPasskey',
    startAuthentication: 'part of signInWithPasskey', verifyAuthentication: 'part of signInWithPasskey',
    linkIdentityOAuth: 'internal, of linkIdentity', linkIdentityIdToken: 'internal, of linkIdentity', client: 'internal',
  }
  const here = new URL('.', import.meta.url)
  const text = readdirSync(here).filter((name) => name.endsWith('.test.mjs')).map((name) => readFileSync(new URL(name, here), 'utf8')).join('\n')
  const { auth } = basalt.client()
  const missing = []
  const look = (thing, path) => {
    const names = new Set()
    for (let level = thing; level && level !== Object.prototype; level = Object.getPrototypeOf(level)) Object.getOwnPropertyNames(level).forEach((name) => names.add(name))
    for (const name of names) {
      if (name.startsWith('_') || name === 'constructor' || name in not) continue
      if (typeof thing[name] === 'function' && !new RegExp(`\\b${name}(\\?\\.)?\\(`).test(text)) missing.push(`${path}.${name}`)
    }
  }
  for (const [thing, path] of [[auth, 'auth'], [auth.mfa, 'mfa'], [auth.mfa.webauthn, 'mfa.webauthn'], [auth.mfa.recoveryCodes, 'mfa.recoveryCodes'],
    [auth.oauth, 'oauth'], [auth.passkey, 'passkey'], [auth.admin, 'admin'], [auth.admin.mfa, 'admin.mfa'], [auth.admin.oauth, 'admin.oauth'],
    [auth.admin.passkey, 'admin.passkey'], [auth.admin.customProviders, 'admin.customProviders']]) {
    assert.ok(thing, path)
    look(thing, path)
  }
  assert.deepEqual(missing, [])
})
