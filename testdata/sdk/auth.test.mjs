// What the other files leave of the client library's accounts: visitors, sign-in at other servers, sessions on a
// device, administration. The last test looks that no method of the library is left out by all of them.
import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import Provider from 'oidc-provider'
import { doNotApply, exported, haveWalked, named, walks } from './methods.mjs'
import { start } from './server.mjs'

const password = 'correct horse battery'
const app = 'https://app.example/in'
// That of an identity provider whose key nobody has.
const certificate = 'MIIBGTCBwaADAgECAgEBMAoGCCqGSM49BAMCMBYxFDASBgNVBAMTC2lkcC5leGFtcGxlMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAWMRQwEgYDVQQDEwtpZHAuZXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHNHTV+s/UQtMsTytYZzuae23rIXaGmA8udQrvKP75N1zi9bIL+cYhM9KJ1klXxGnvZu2NxPiX3TXL+K2wamO6gwCgYIKoZIzj0EAwIDRwAwRAIgOM5RKGjHuN46vOgWTx4EghIgMxbPvK9UpaYp6QF+xc0CIEAhAAVsDCmPpPfHen4aUFNDyef2cAsZjNwxX0dODL9p'
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
  basalt = await start('--limits', 'off', '--anonymous-sign-ins', '--manual-linking', '--redirect-urls', app, '--outgoing-allow', '127.0.0.0/8',
    '--saml-private-key', generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' }))
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
  const code = back.searchParams.get('code')
  // The library forgets its verifier with the first exchange: what follows is kept by the server alone.
  const [verifier] = JSON.parse(await client.auth.storage.getItem(`${client.auth.storageKey}-code-verifier`)).split('/')
  const exchange = async (code_verifier) => {
    const answer = await fetch(`${basalt.url}/auth/v1/token?grant_type=pkce`, {
      method: 'POST', headers: { apikey: basalt.keys.ANON_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ auth_code: code, code_verifier }),
    })
    return [answer.status, (await answer.json()).error_code]
  }
  assert.deepEqual(await exchange('x'.repeat(56)), [400, 'bad_code_verifier'])
  const { session, user } = good(await client.auth.exchangeCodeForSession(code))
  assert.equal(user.email, 'olga@example.com')
  assert.equal(user.app_metadata.provider, 'custom:house')
  assert.ok(session.provider_token)
  assert.equal(good(await client.auth.getUser(session.access_token)).user.id, user.id)
  assert.deepEqual(await exchange(verifier), [403, 'flow_state_already_used'])
  // Whoever brings a code again may have stolen it (RFC 6749 §4.1.2): the session that it gave is over.
  assert.equal((await client.auth.refreshSession(session)).error.code, 'refresh_token_already_used')
  assert.equal((await client.auth.getUser(session.access_token)).error.name, 'AuthSessionMissingError')
})

// What the provider says about a person to an app that asks with a nonce.
async function idToken(person, nonce) {
  const hashed = createHash('sha256').update(nonce).digest('hex')
  const ask = new URL(`${issuer}/auth?${new URLSearchParams({ client_id: 'app', response_type: 'id_token', redirect_uri: app, scope: 'openid email', nonce: hashed })}`)
  return new URLSearchParams((await browse(ask, person)).hash.slice(1)).get('id_token')
}

test('signInWithIdToken believes what the provider has signed, and nothing else', async () => {
  const nonce = 'a nonce of this sign-in', token = await idToken('ida', nonce)
  const client = basalt.client()
  const { user } = good(await client.auth.signInWithIdToken({ provider: 'custom:house', token, nonce }))
  assert.equal(user.email, 'ida@example.com')
  assert.equal(user.app_metadata.provider, 'custom:house')
  assert.equal(good(await client.auth.getUser()).user.id, user.id)
  const [head, body, signature] = token.split('.')
  const claims = JSON.parse(Buffer.from(body, 'base64url'))
  const forged = [head, Buffer.from(JSON.stringify({ ...claims, sub: 'eve', email: 'eve@example.com' })).toString('base64url'), signature].join('.')
  for (const [what, wrong] of Object.entries({ 'another nonce': { token, nonce: 'another' }, 'no nonce': { token }, 'another body': { token: forged, nonce } })) {
    const { data, error } = await basalt.client().auth.signInWithIdToken({ provider: 'custom:house', ...wrong })
    assert.deepEqual([error?.status, error?.code], [400, 'validation_failed'], what)
    assert.equal(data.session, null)
  }
})

test('linkIdentity takes a token of the provider too, once for one user', async () => {
  const client = await signedIn('lore@example.com')
  const nonce = 'a nonce of this link', token = await idToken('lore-elsewhere', nonce)
  const { user } = good(await client.auth.linkIdentity({ provider: 'custom:house', token, nonce }))
  assert.equal(user.email, 'lore@example.com')
  assert.deepEqual(good(await client.auth.getUserIdentities()).identities.map((i) => i.provider).sort(), ['custom:house', 'email'])
  const other = await signedIn('luca@example.com')
  assert.equal((await other.auth.linkIdentity({ provider: 'custom:house', token, nonce })).error.code, 'identity_already_exists')
  assert.equal(good(await basalt.client().auth.signInWithIdToken({ provider: 'custom:house', token, nonce })).user.id, user.id)
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

test('signInWithSSO leads to the identity provider of an organisation', async () => {
  const where = 'https://idp.example/sso'
  const answer = await fetch(`${basalt.url}/auth/v1/admin/sso/providers`, {
    method: 'POST',
    headers: { apikey: basalt.keys.SERVICE_ROLE_KEY, Authorization: `Bearer ${basalt.keys.SERVICE_ROLE_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      type: 'saml', domains: ['house.example'],
      metadata_xml: `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.example">
        <IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
        <KeyDescriptor use="signing"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>${certificate}</X509Certificate></X509Data></KeyInfo></KeyDescriptor>
        <SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${where}"/>
        </IDPSSODescriptor></EntityDescriptor>`,
    }),
  })
  const provider = await answer.json()
  assert.equal(answer.status, 201, JSON.stringify(provider))
  const { auth } = basalt.client()
  for (const asked of [{ domain: 'house.example' }, { providerId: provider.id }]) {
    const to = new URL(good(await auth.signInWithSSO({ ...asked, options: { redirectTo: app } })).url)
    assert.equal(to.origin + to.pathname, where)
    assert.ok(to.searchParams.get('SAMLRequest'))
  }
  assert.equal((await auth.signInWithSSO({ domain: 'nowhere.example' })).error.code, 'sso_provider_not_found')
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
  assert.equal((await there.auth.getUser()).error.name, 'AuthSessionMissingError')
  const { session } = good(await here.auth.getSession())
  assert.equal((await service.auth.admin.signOut(session.access_token, 'global')).error, null)
  assert.equal((await here.auth.getUser(session.access_token)).error.name, 'AuthSessionMissingError')
  assert.equal((await here.auth.refreshSession(session)).error.code, 'refresh_token_not_found')
})

test('an administrator makes, finds, changes, bans and deletes users', async () => {
  const { admin } = service.auth
  const { user } = good(await admin.createUser({ email: 'made@example.com', password, email_confirm: true, user_metadata: { a: 1 } }))
  assert.equal(good(await admin.getUserById(user.id)).user.email, 'made@example.com')
  assert.ok(good(await admin.listUsers({ page: 1, perPage: 200 })).users.some(({ id }) => id === user.id))
  const { users, total, nextPage, lastPage } = good(await admin.listUsers({ page: 1, perPage: 2 }))
  assert.equal(users.length, 2)
  assert.ok(total > 2)
  assert.deepEqual([nextPage, lastPage], [2, Math.ceil(total / 2)])
  const end = good(await admin.listUsers({ page: lastPage, perPage: 2 }))
  assert.equal(end.nextPage, null)
  assert.ok(end.users.every(({ id }) => users.every((first) => first.id !== id)))
  assert.deepEqual(good(await admin.updateUserById(user.id, { app_metadata: { plan: 'pro' } })).user.app_metadata.plan, 'pro')
  good(await admin.updateUserById(user.id, { ban_duration: '24h' }))
  assert.equal((await basalt.client().auth.signInWithPassword({ email: 'made@example.com', password })).error.code, 'user_banned')
  good(await admin.updateUserById(user.id, { ban_duration: 'none' }))
  good(await basalt.client().auth.signInWithPassword({ email: 'made@example.com', password }))
  good(await admin.deleteUser(user.id))
  assert.equal((await admin.getUserById(user.id)).error.code, 'user_not_found')
  const refused = (await basalt.client().auth.admin.listUsers()).error
  assert.deepEqual([refused.status, refused.code], [403, 'not_admin'])
  assert.equal((await basalt.client().auth.signInWithPassword({ email: 'made@example.com', password })).error.code, 'invalid_credentials')
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
  assert.equal((await customProviders.getProvider('custom:second')).error.code, 'custom_provider_not_found')
})

test('the library refuses by throwing where the app asks for that', async () => {
  const client = basalt.client(undefined, { throwOnError: true })
  assert.equal(client.auth.isThrowOnErrorEnabled(), true)
  await assert.rejects(client.auth.signInWithPassword({ email: 'nobody@example.com', password }), { name: 'AuthApiError', code: 'invalid_credentials', status: 400 })
})

test('the methods that this file is to walk were walked', () => haveWalked(import.meta.filename))

test('no method of the library was left out', () => {
  const there = exported(basalt.client().auth)
  const walkedOrNot = new Set([...Object.keys(walks).flatMap(named), ...Object.keys(doNotApply)])
  assert.deepEqual(there.filter((method) => !walkedOrNot.has(method)), [], 'is neither walked nor listed as one that does not apply')
  assert.deepEqual([...walkedOrNot].filter((method) => !there.includes(method)), [], 'is not a method of the library')
  for (const file of Object.keys(walks)) {
    assert.match(readFileSync(new URL(file, import.meta.url), 'utf8'), /haveWalked\(import\.meta\.filename\)/, file)
  }
})
