// Passkeys in the browser: WebAuthn Level 3, with options and answers as JSON.
import { api, ApiError } from '../../app/api.ts'
import type { PasskeyCreated, PasskeyCreation, PasskeyProof, PasskeyRequest, SignedIn } from '../../generated/admin.ts'

/** Whether this browser can use passkeys on this page: they need TLS or localhost, and a name in place of an address. */
export function passkeysWork(): boolean {
  return typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential && !/^[\d.]+$|^\[/.test(location.hostname)
}

function refused(reason: unknown): never {
  if (reason instanceof DOMException && reason.name === 'NotAllowedError') {
    throw new ApiError(0, { code: 'passkey', message: 'No passkey was used: it was cancelled, it took too long, or this device has none for here.' })
  }
  throw reason
}

/** Asks for a passkey and opens a session with it. */
export async function signInByPasskey(): Promise<SignedIn> {
  const { challenge_id, options } = await api.post<PasskeyRequest>('/session/passkey/options', {}, { quiet: true })
  const credential = await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }).catch(refused)
  const proof: PasskeyProof = { challenge_id, credential: (credential as PublicKeyCredential).toJSON() as AuthenticationResponseJSON }
  return api.post<SignedIn>('/session/passkey/verify', proof, { quiet: true })
}

/** Makes a passkey for the administrator who is signed in. */
export async function makePasskey(name: string): Promise<void> {
  const { challenge_id, options } = await api.post<PasskeyCreation>('/me/passkeys/options')
  const credential = await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }).catch(refused)
  await api.post('/me/passkeys/verify', { challenge_id, name, credential: (credential as PublicKeyCredential).toJSON() as RegistrationResponseJSON } satisfies PasskeyCreated)
}
