// Which test file walks which method of the client library's accounts. A method counts as walked when a test has
// called it, by itself and not by way of another method, and has got an answer without an error.
import assert from 'node:assert/strict'
import { basename } from 'node:path'

export const walks = {
  'auth.test.mjs': `
    initialize isThrowOnErrorEnabled onAuthStateChange startAutoRefresh stopAutoRefresh dispose
    signUp signInWithPassword signInAnonymously signInWithOAuth signInWithIdToken signInWithSSO exchangeCodeForSession
    getSession setSession refreshSession getUser getClaims updateUser signOut
    getUserIdentities linkIdentity unlinkIdentity
    admin.createUser admin.listUsers admin.getUserById admin.updateUserById admin.deleteUser admin.signOut
    admin.customProviders.createProvider admin.customProviders.listProviders admin.customProviders.getProvider
    admin.customProviders.updateProvider admin.customProviders.deleteProvider`,
  'links.test.mjs': `
    signUp signInWithPassword signInWithOtp verifyOtp resend resetPasswordForEmail exchangeCodeForSession setSession
    updateUser reauthenticate admin.inviteUserByEmail admin.generateLink`,
  'factors.test.mjs': `
    mfa.enroll mfa.challenge mfa.verify mfa.challengeAndVerify mfa.unenroll mfa.listFactors mfa.getAuthenticatorAssuranceLevel
    mfa.recoveryCodes.getStatus mfa.recoveryCodes.generate mfa.recoveryCodes.verify mfa.recoveryCodes.regenerate
    mfa.recoveryCodes.unenroll admin.mfa.listFactors admin.mfa.deleteFactor`,
  'passkeys.test.mjs': `
    registerPasskey signInWithPasskey passkey.startRegistration passkey.verifyRegistration passkey.startAuthentication
    passkey.verifyAuthentication passkey.list passkey.update passkey.delete admin.passkey.listPasskeys admin.passkey.deletePasskey
    mfa.webauthn.register mfa.webauthn.authenticate mfa.webauthn.enroll mfa.webauthn.challenge mfa.webauthn.verify`,
  'oauthserver.test.mjs': `
    getClaims oauth.getAuthorizationDetails oauth.approveAuthorization oauth.denyAuthorization oauth.listGrants oauth.revokeGrant
    admin.oauth.createClient admin.oauth.listClients admin.oauth.getClient admin.oauth.updateClient admin.oauth.deleteClient
    admin.oauth.regenerateClientSecret`,
}

export const doNotApply = {
  signInWithWeb3: 'Web3 is not offered',
  signInWithEthereum: 'Web3 is not offered; private',
  signInWithSolana: 'Web3 is not offered; private',
  linkIdentityOAuth: 'private, what linkIdentity does with a provider',
  linkIdentityIdToken: 'private, what linkIdentity does with a token',
  fetchJwk: 'private, what getClaims does for a key',
  fetch: 'the fetch that the library was given',
  logger: 'the logger that the library was given',
  'admin.fetch': 'the fetch that the library was given',
}

const parts = ['mfa', 'mfa.webauthn', 'mfa.recoveryCodes', 'oauth', 'passkey',
  'admin', 'admin.mfa', 'admin.oauth', 'admin.passkey', 'admin.customProviders']
const walked = new Set()

const under = (path, name) => path ? `${path}.${name}` : name

// Gives the client as it is, and keeps in mind what is called on it. The library itself works on the bare client.
export function watched(client, path = '') {
  return new Proxy(client, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (typeof name !== 'string' || !value) return value
      const at = under(path, name)
      if (parts.includes(at)) return watched(value, at)
      if (typeof value !== 'function') return value
      return (...given) => {
        const answer = value.apply(target, given)
        Promise.resolve(answer).then((settled) => settled?.error || walked.add(at), () => {})
        return answer
      }
    },
    set: (target, name, value) => Reflect.set(target, name, value),
  })
}

// Asserts that the tests of a file have walked what the table says.
export function haveWalked(file) {
  assert.deepEqual(named(basename(file)).filter((method) => !walked.has(method)), [])
}

// The methods that a file is to walk.
export function named(file) {
  return walks[file].trim().split(/\s+/)
}

// Every method that a client exports, by its path.
export function exported(client) {
  return ['', ...parts].flatMap((path) => {
    const part = path.split('.').filter(Boolean).reduce((whole, name) => whole[name], client)
    const names = new Set()
    for (let level = part; level !== Object.prototype; level = Object.getPrototypeOf(level)) {
      for (const name of Object.getOwnPropertyNames(level)) names.add(name)
    }
    return [...names].filter((name) => !name.startsWith('_') && name !== 'constructor' && typeof part[name] === 'function')
      .map((name) => under(path, name))
  })
}
