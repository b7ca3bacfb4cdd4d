// The bodies of /admin/api, written from api/admin by `make web-types`.

export interface AdministratorBody {
  id: string
  email: string
  role: string
  joined: boolean
  totp: boolean
  passkeys: number
  created_at: string
  last_sign_in_at: string | null
}

export interface AdministratorList {
  administrators: AdministratorBody[]
}

export interface AuditEntry {
  id: number
  at: string
  administrator_id: string | null
  email: string
  action: string
  target: string
  before: unknown
  after: unknown
  ip: string
  request_id: string
}

export interface AuditPage {
  entries: AuditEntry[]
  next: number | null
}

export interface ElevateRequest {
  password?: string
  code?: string
}

export interface EndedSessions {
  ended: number
}

export interface ErrorBody {
  code: string
  message: string
  details: string
  hint: string
  position?: number
  schema?: string
  table?: string
  column?: string
  constraint?: string
}

export interface Invitation {
  administrator: AdministratorBody
  link: string
  expires_at: string
}

export interface InviteRequest {
  email: string
  role: string
}

export interface JoinLink {
  link: string
  expires_at: string
}

export interface JoinRequest {
  token: string
  password: string
}

export interface Me {
  id: string
  email: string
  role: string
  totp: boolean
  passkeys: number
}

export interface OwnSession {
  id: string
  current: boolean
  created_at: string
  last_seen_at: string
  expires_at: string
  elevated_until: string
  ip: string
  user_agent: string
}

export interface OwnSessions {
  sessions: OwnSession[]
}

export interface PasskeyBody {
  id: string
  name: string
  domain: string
  created_at: string
  last_used_at: string | null
}

export interface PasskeyCreated {
  challenge_id: string
  name: string
  credential: RegistrationResponseJSON
}

export interface PasskeyCreation {
  challenge_id: string
  options: PublicKeyCredentialCreationOptionsJSON
}

export interface PasskeyList {
  passkeys: PasskeyBody[]
}

export interface PasskeyProof {
  challenge_id: string
  credential: AuthenticationResponseJSON
}

export interface PasskeyRequest {
  challenge_id: string
  options: PublicKeyCredentialRequestOptionsJSON
}

export interface PasswordChange {
  password: string
  current: string
}

export interface RoleChange {
  role: string
}

export interface ServerInfo {
  version: string
  api_url: string
  site_url: string
  production: boolean
}

export interface SetupRequest {
  token: string
  email: string
  password: string
}

export interface SetupState {
  needed: boolean
}

export interface SignInRequest {
  email: string
  password: string
  code?: string
}

export interface SignedIn {
  administrator: Me
  session: OwnSession
  server: ServerInfo
}

export interface TOTPCode {
  code: string
}

export interface TOTPSecret {
  secret: string
  uri: string
  qr_code: string
}
