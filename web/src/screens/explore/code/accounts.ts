// The endpoints of authentication that apps use, with code for each.
import { command } from './curl.ts'
import * as dart from './dart.ts'
import * as javascript from './javascript.ts'
import * as kotlin from './kotlin.ts'
import type { CodeLanguage, Server } from './place.ts'
import * as python from './python.ts'
import * as swift from './swift.ts'

interface Endpoint {
  id: string
  title: string
  text: string
  method: 'GET' | 'POST' | 'PUT'
  path: string
  body?: string
  /** A user's access token is sent in place of the key. */
  signedIn?: boolean
  code: Record<Exclude<CodeLanguage, 'curl'>, string>
}

interface Group { title: string, endpoints: readonly Endpoint[] }

const clients: Record<Exclude<CodeLanguage, 'curl'>, (server: Server) => string> = {
  javascript: javascript.client, dart: dart.client, python: python.client, swift: swift.client, kotlin: kotlin.client,
}

export function accountCode(language: CodeLanguage, endpoint: Endpoint, server: Server): string {
  if (language !== 'curl') return `${clients[language](server)}\n${endpoint.code[language]}\n`
  const headers: Record<string, string> = { apikey: server.key }
  if (endpoint.signedIn) headers.Authorization = 'Bearer <access token of the user>'
  if (endpoint.body) headers['Content-Type'] = 'application/json'
  return command(endpoint.method, `${server.url}/auth/v1${endpoint.path}`, headers, endpoint.body ?? '')
}

export const accounts: readonly Group[] = [
  {
    title: 'Sign up and in',
    endpoints: [
      {
        id: 'sign-up', title: 'Sign up', method: 'POST', path: '/signup', body: '{"email": "ada@example.com", "password": "a long pass phrase"}',
        text: 'Makes a user. Where addresses are confirmed, the user gets a mail and the session comes with its link.',
        code: {
          javascript: `const { data, error } = await supabase.auth.signUp({\n  email: 'ada@example.com',\n  password: 'a long pass phrase',\n})`,
          dart: `final response = await supabase.auth.signUp(\n  email: 'ada@example.com',\n  password: 'a long pass phrase',\n);`,
          python: `response = supabase.auth.sign_up({\n    "email": "ada@example.com",\n    "password": "a long pass phrase",\n})`,
          swift: `let response = try await supabase.auth.signUp(\n  email: "ada@example.com",\n  password: "a long pass phrase"\n)`,
          kotlin: `val user = supabase.auth.signUpWith(Email) {\n    email = "ada@example.com"\n    password = "a long pass phrase"\n}`,
        },
      },
      {
        id: 'sign-in', title: 'Sign in with a password', method: 'POST', path: '/token?grant_type=password', body: '{"email": "ada@example.com", "password": "a long pass phrase"}',
        text: 'Gives a session: an access token for requests and a refresh token for the next one.',
        code: {
          javascript: `const { data, error } = await supabase.auth.signInWithPassword({\n  email: 'ada@example.com',\n  password: 'a long pass phrase',\n})`,
          dart: `final response = await supabase.auth.signInWithPassword(\n  email: 'ada@example.com',\n  password: 'a long pass phrase',\n);`,
          python: `response = supabase.auth.sign_in_with_password({\n    "email": "ada@example.com",\n    "password": "a long pass phrase",\n})`,
          swift: `let session = try await supabase.auth.signIn(\n  email: "ada@example.com",\n  password: "a long pass phrase"\n)`,
          kotlin: `supabase.auth.signInWith(Email) {\n    email = "ada@example.com"\n    password = "a long pass phrase"\n}`,
        },
      },
      {
        id: 'anonymous', title: 'Sign in without an account', method: 'POST', path: '/signup', body: '{}',
        text: 'Makes a user without an address, who can add one later. It must be allowed in the settings.',
        code: {
          javascript: 'const { data, error } = await supabase.auth.signInAnonymously()',
          dart: 'final response = await supabase.auth.signInAnonymously();',
          python: 'response = supabase.auth.sign_in_anonymously()',
          swift: 'let session = try await supabase.auth.signInAnonymously()',
          kotlin: 'supabase.auth.signInAnonymously()',
        },
      },
      {
        id: 'refresh', title: 'Renew the session', method: 'POST', path: '/token?grant_type=refresh_token', body: '{"refresh_token": "<refresh token>"}',
        text: 'Gives the next session. The libraries do this by themselves before the access token expires.',
        code: {
          javascript: 'const { data, error } = await supabase.auth.refreshSession()',
          dart: 'final response = await supabase.auth.refreshSession();',
          python: 'response = supabase.auth.refresh_session()',
          swift: 'let session = try await supabase.auth.refreshSession()',
          kotlin: 'supabase.auth.refreshCurrentSession()',
        },
      },
      {
        id: 'sign-out', title: 'Sign out', method: 'POST', path: '/logout?scope=global', signedIn: true,
        text: 'Ends the sessions of the user: this one (local), the others, or all (global).',
        code: {
          javascript: `const { error } = await supabase.auth.signOut({ scope: 'global' })`,
          dart: 'await supabase.auth.signOut(scope: SignOutScope.global);',
          python: 'supabase.auth.sign_out({"scope": "global"})',
          swift: 'try await supabase.auth.signOut(scope: .global)',
          kotlin: 'supabase.auth.signOut(SignOutScope.GLOBAL)',
        },
      },
    ],
  },
  {
    title: 'Links and codes by mail',
    endpoints: [
      {
        id: 'otp', title: 'Send a link and a code', method: 'POST', path: '/otp', body: '{"email": "ada@example.com", "create_user": true}',
        text: 'Mails a link that signs in, and a code for those who read the mail elsewhere.',
        code: {
          javascript: `const { error } = await supabase.auth.signInWithOtp({ email: 'ada@example.com' })`,
          dart: `await supabase.auth.signInWithOtp(email: 'ada@example.com');`,
          python: 'supabase.auth.sign_in_with_otp({"email": "ada@example.com"})',
          swift: 'try await supabase.auth.signInWithOTP(email: "ada@example.com")',
          kotlin: 'supabase.auth.signInWith(OTP) {\n    email = "ada@example.com"\n}',
        },
      },
      {
        id: 'verify', title: 'Sign in with the code', method: 'POST', path: '/verify', body: '{"type": "email", "email": "ada@example.com", "token": "123456"}',
        text: 'Takes the code of a mail and gives a session. A code counts once.',
        code: {
          javascript: `const { data, error } = await supabase.auth.verifyOtp({\n  type: 'email',\n  email: 'ada@example.com',\n  token: '123456',\n})`,
          dart: `final response = await supabase.auth.verifyOTP(\n  type: OtpType.email,\n  email: 'ada@example.com',\n  token: '123456',\n);`,
          python: 'response = supabase.auth.verify_otp({\n    "type": "email",\n    "email": "ada@example.com",\n    "token": "123456",\n})',
          swift: 'let response = try await supabase.auth.verifyOTP(\n  email: "ada@example.com",\n  token: "123456",\n  type: .email\n)',
          kotlin: 'supabase.auth.verifyEmailOtp(\n    type = OtpType.Email.EMAIL,\n    email = "ada@example.com",\n    token = "123456"\n)',
        },
      },
      {
        id: 'recover', title: 'Reset a password', method: 'POST', path: '/recover', body: '{"email": "ada@example.com"}',
        text: 'Mails a link after which the user sets a new password. The answer is the same for addresses that nobody has.',
        code: {
          javascript: `const { error } = await supabase.auth.resetPasswordForEmail('ada@example.com')`,
          dart: `await supabase.auth.resetPasswordForEmail('ada@example.com');`,
          python: 'supabase.auth.reset_password_for_email("ada@example.com")',
          swift: 'try await supabase.auth.resetPasswordForEmail("ada@example.com")',
          kotlin: 'supabase.auth.resetPasswordForEmail("ada@example.com")',
        },
      },
    ],
  },
  {
    title: 'Other providers',
    endpoints: [
      {
        id: 'oauth', title: 'Sign in with a provider', method: 'GET', path: '/authorize?provider=github&redirect_to=http%3A%2F%2F127.0.0.1%3A3000',
        text: 'Opens the page of the provider, which comes back to an address that the settings allow.',
        code: {
          javascript: `const { data, error } = await supabase.auth.signInWithOAuth({\n  provider: 'github',\n  options: { redirectTo: 'http://127.0.0.1:3000' },\n})`,
          dart: `await supabase.auth.signInWithOAuth(\n  OAuthProvider.github,\n  redirectTo: 'http://127.0.0.1:3000',\n);`,
          python: 'response = supabase.auth.sign_in_with_oauth({\n    "provider": "github",\n    "options": {"redirect_to": "http://127.0.0.1:3000"},\n})\nprint(response.url)',
          swift: 'try await supabase.auth.signInWithOAuth(\n  provider: .github,\n  redirectTo: URL(string: "http://127.0.0.1:3000")\n)',
          kotlin: 'supabase.auth.signInWith(Github)',
        },
      },
      {
        id: 'exchange', title: 'Exchange the code of a provider', method: 'POST', path: '/token?grant_type=pkce', body: '{"auth_code": "<code of the address>", "code_verifier": "<verifier>"}',
        text: 'With PKCE the address that the provider comes back to has a code, which gives the session.',
        code: {
          javascript: 'const { data, error } = await supabase.auth.exchangeCodeForSession(code)',
          dart: 'final response = await supabase.auth.exchangeCodeForSession(code);',
          python: 'response = supabase.auth.exchange_code_for_session({"auth_code": code})',
          swift: 'let session = try await supabase.auth.exchangeCodeForSession(authCode: code)',
          kotlin: 'supabase.auth.exchangeCodeForSession(code)',
        },
      },
    ],
  },
  {
    title: 'The user',
    endpoints: [
      {
        id: 'user', title: 'Read the user', method: 'GET', path: '/user', signedIn: true,
        text: 'Gives the user of the access token as the server knows them now.',
        code: {
          javascript: 'const { data: { user }, error } = await supabase.auth.getUser()',
          dart: 'final response = await supabase.auth.getUser();',
          python: 'response = supabase.auth.get_user()',
          swift: 'let user = try await supabase.auth.user()',
          kotlin: 'val user = supabase.auth.retrieveUserForCurrentSession()',
        },
      },
      {
        id: 'update-user', title: 'Change the user', method: 'PUT', path: '/user', signedIn: true, body: '{"password": "another long pass phrase", "data": {"name": "Ada"}}',
        text: 'Changes the password, the address, or what the app keeps of the user.',
        code: {
          javascript: `const { data, error } = await supabase.auth.updateUser({\n  password: 'another long pass phrase',\n  data: { name: 'Ada' },\n})`,
          dart: `final response = await supabase.auth.updateUser(\n  UserAttributes(password: 'another long pass phrase', data: {'name': 'Ada'}),\n);`,
          python: 'response = supabase.auth.update_user({\n    "password": "another long pass phrase",\n    "data": {"name": "Ada"},\n})',
          swift: 'let user = try await supabase.auth.update(\n  user: UserAttributes(password: "another long pass phrase", data: ["name": "Ada"])\n)',
          kotlin: 'val user = supabase.auth.updateUser {\n    password = "another long pass phrase"\n    data { put("name", "Ada") }\n}',
        },
      },
    ],
  },
  {
    title: 'Second factors',
    endpoints: [
      {
        id: 'mfa-enroll', title: 'Add an authenticator app', method: 'POST', path: '/factors', signedIn: true, body: '{"factor_type": "totp", "friendly_name": "phone"}',
        text: 'Gives the secret and its QR code. The factor counts once a code of it has been verified.',
        code: {
          javascript: `const { data, error } = await supabase.auth.mfa.enroll({ factorType: 'totp', friendlyName: 'phone' })`,
          dart: `final response = await supabase.auth.mfa.enroll(factorType: FactorType.totp, friendlyName: 'phone');`,
          python: 'response = supabase.auth.mfa.enroll({"factor_type": "totp", "friendly_name": "phone"})',
          swift: 'let response = try await supabase.auth.mfa.enroll(params: MFATotpEnrollParams(friendlyName: "phone"))',
          kotlin: 'val factor = supabase.auth.mfa.enroll(FactorType.TOTP, "phone")',
        },
      },
      {
        id: 'mfa-challenge', title: 'Ask for a code', method: 'POST', path: '/factors/<factor id>/challenge', signedIn: true,
        text: 'Begins the check of a code and gives the id of the challenge.',
        code: {
          javascript: 'const { data: challenge, error } = await supabase.auth.mfa.challenge({ factorId })',
          dart: 'final challenge = await supabase.auth.mfa.challenge(factorId: factorId);',
          python: 'challenge = supabase.auth.mfa.challenge({"factor_id": factor_id})',
          swift: 'let challenge = try await supabase.auth.mfa.challenge(params: MFAChallengeParams(factorId: factorId))',
          kotlin: 'val challenge = supabase.auth.mfa.createChallenge(factorId)',
        },
      },
      {
        id: 'mfa-verify', title: 'Check the code', method: 'POST', path: '/factors/<factor id>/verify', signedIn: true, body: '{"challenge_id": "<challenge id>", "code": "123456"}',
        text: 'Gives a session of level aal2, which policies can demand: auth.jwt() ->> \'aal\' = \'aal2\'.',
        code: {
          javascript: `const { data, error } = await supabase.auth.mfa.verify({\n  factorId,\n  challengeId: challenge.id,\n  code: '123456',\n})`,
          dart: `final response = await supabase.auth.mfa.verify(\n  factorId: factorId,\n  challengeId: challenge.id,\n  code: '123456',\n);`,
          python: 'response = supabase.auth.mfa.verify({\n    "factor_id": factor_id,\n    "challenge_id": challenge.id,\n    "code": "123456",\n})',
          swift: 'try await supabase.auth.mfa.verify(\n  params: MFAVerifyParams(factorId: factorId, challengeId: challenge.id, code: "123456")\n)',
          kotlin: 'supabase.auth.mfa.verifyChallenge(factorId, challenge.id, "123456")',
        },
      },
    ],
  },
]
