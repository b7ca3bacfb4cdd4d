// Passkeys in the browser: WebAuthn Level 3, with options and answers as JSON.
import { api, ApiError } from '../../app/api.ts'
import type { PasskeyProof, PasskeyRequest, SignedIn } from '../../generated/admin.ts'

/** Whether this browser can use passkeys on this page: they need TLS or localhost. */
export function passkeysWork(): boolean {
  return typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential
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
