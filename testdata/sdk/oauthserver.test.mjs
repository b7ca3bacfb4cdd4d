// Third parties sign users in, and tokens are verified without asking: by the client library's own calls.
import { after, before, test } from 'node:test'
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { haveWalked } from './methods.mjs'
import { start, until } from './server.mjs'

const password = 'a long enough pass phrase'
const callback = 'https://client.example/callback'
let basalt, admin, ada, party

before(async () => {
  basalt = await start('--oauth-server')
  basalt.run('keys', 'signing', 'add')
  basalt.run('keys', 'signing', 'promote', '--now')
  await until(async () => {
    const set = await (await fetch(`${basalt.url}/auth/v1/.well-known/jwks.json`)).json()
    return set.keys.length === 1
  }, 'the signing key', 20000)
  admin = basalt.client(basalt.keys.SERVICE_ROLE_KEY)
  ada = basalt.client()
  assert.ifError((await ada.auth.signUp({ email: 'ada@example.com', password })).error)
})

after(() => basalt?.stop())

test('a token is verified by the published keys', async () => {
  const { data, error } = await ada.auth.getClaims()
  assert.ifError(error)
  assert.equal(data.header.alg, 'ES256')
  assert.equal(data.claims.role, 'authenticated')
  assert.equal(data.claims.email, 'ada@example.com')
})

test('an administrator keeps clients', async () => {
  const made = await admin.auth.admin.oauth.createClient({ client_name: 'An app', redirect_uris: [callback] })
  assert.ifError(made.error)
  party = made.data
  assert.ok(party.client_secret)
  const listed = await admin.auth.admin.oauth.listClients()
  assert.ifError(listed.error)
  assert.deepEqual(listed.data.clients.map((client) => client.client_id), [party.client_id])
  const changed = await admin.auth.admin.oauth.updateClient(party.client_id, { client_name: 'The app' })
  assert.equal(changed.data.client_name, 'The app')
  const found = await admin.auth.admin.oauth.getClient(party.client_id)
  assert.equal(found.data.client_name, 'The app')
  const renewed = await admin.auth.admin.oauth.regenerateClientSecret(party.client_id)
  assert.notEqual(renewed.data.client_secret, party.client_secret)
  party.client_secret = renewed.data.client_secret
  const other = await admin.auth.admin.oauth.createClient({ client_name: 'Another', redirect_uris: [callback] })
  assert.ifError((await admin.auth.admin.oauth.deleteClient(other.data.client_id)).error)
  const gone = await admin.auth.admin.oauth.getClient(other.data.client_id)
  assert.equal(gone.error.code, 'oauth_client_not_found')
})

async function ask(verifier) {
  const query = new URLSearchParams({
    client_id: party.client_id, redirect_uri: callback, response_type: 'code', scope: 'openid email', state: 'a state',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'), code_challenge_method: 'S256',
  })
  const answer = await fetch(`${basalt.url}/auth/v1/oauth/authorize?${query}`, { redirect: 'manual' })
  assert.equal(answer.status, 302)
  const to = new URL(answer.headers.get('location'))
  assert.equal(to.origin + to.pathname, 'http://localhost:3000/oauth/consent')
  return to.searchParams.get('authorization_id')
}

test('a user denies, then approves, and takes it back', async () => {
  const denied = await ask('x'.repeat(43))
  assert.equal((await ada.auth.oauth.getAuthorizationDetails(denied)).data.scope, 'openid email')
  const refusal = await ada.auth.oauth.denyAuthorization(denied)
  assert.equal(new URL(refusal.data.redirect_url).searchParams.get('error'), 'access_denied')

  const verifier = randomBytes(32).toString('base64url')
  const id = await ask(verifier)
  const details = await ada.auth.oauth.getAuthorizationDetails(id)
  assert.ifError(details.error)
  assert.equal(details.data.client.name, 'The app')
  assert.equal(details.data.user.email, 'ada@example.com')
  const approved = await ada.auth.oauth.approveAuthorization(id)
  assert.ifError(approved.error)
  const to = new URL(approved.data.redirect_url)
  assert.equal(to.searchParams.get('state'), 'a state')
  const answer = await fetch(`${basalt.url}/auth/v1/oauth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${party.client_id}:${party.client_secret}`)}` },
    body: new URLSearchParams({ grant_type: 'authorization_code', code: to.searchParams.get('code'), code_verifier: verifier, redirect_uri: callback }),
  })
  const tokens = await answer.json()
  assert.equal(answer.status, 200, JSON.stringify(tokens))
  assert.ok(tokens.id_token)
  const { data } = await basalt.client().auth.getClaims(tokens.access_token)
  assert.equal(data.claims.client_id, party.client_id)

  const grants = await ada.auth.oauth.listGrants()
  assert.ifError(grants.error)
  assert.deepEqual(grants.data.map((grant) => [grant.client.id, grant.scopes]), [[party.client_id, ['openid', 'email']]])
  assert.ifError((await ada.auth.oauth.revokeGrant({ clientId: party.client_id })).error)
  assert.equal((await ada.auth.oauth.listGrants()).data.length, 0)
  const { error } = await basalt.client().auth.getUser(tokens.access_token)
  assert.equal(error.name, 'AuthSessionMissingError')
})

test('the methods that this file is to walk were walked', () => haveWalked(import.meta.filename))
