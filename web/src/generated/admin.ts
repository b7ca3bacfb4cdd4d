// The bodies of /admin/api, written from api/admin by `make web-types`.

export interface AboutBody {
  version: string
  go: string
  postgresql: string
  licence: string
  libraries: LibraryBody[]
}

export interface ActivityBody {
  sessions: SessionBody[]
  idle: number
  locks: LockBody[]
}

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

export interface AdviceAskBody {
  statement: string
}

export interface AdviceBody {
  reason: string
  message: string
  hypothetical: boolean
  hypothetical_available: boolean
  cost: number
  suggestions: IndexSuggestion[]
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

export interface AuthEvent {
  id: string
  at: string
  action: string
  kind: string
  actor_id: string
  actor: string
  ip: string
  payload: unknown
}

export interface AuthEventsBody {
  events: AuthEvent[]
  next: string | null
}

export interface BareForeignKey {
  schema: string
  table: string
  name: string
  columns: string[]
  ref_table: string
  table_rows: number
  sql: string
}

export interface CatalogBody {
  schemas: SchemaBody[]
  relations: (RelationBody | null)[]
  enums: EnumBody[]
  functions: FunctionBody[]
  roles: RoleBody[]
  extensions: ExtensionBody[]
  migrations: boolean
  truncated: boolean
}

export interface ColumnBody {
  name: string
  position: number
  type: string
  type_kind: string
  element: string | null
  enum_values: string[]
  not_null: boolean
  default: string | null
  identity: string
  generated: string | null
  comment: string
}

export interface ConflictBody {
  index: number
  key: Record<string, string | null>
  theirs: Record<string, string | null>
}

export interface ConflictsBody {
  code: string
  message: string
  conflicts: ConflictBody[]
}

export interface ConstraintBody {
  name: string
  definition: string
  columns: string[]
  valid: boolean
}

export interface CustomProviderBody {
  identifier: string
  provider_type: 'oidc' | 'oauth2' | 'preset'
  name: string
  enabled: boolean
  client_id: string
  acceptable_client_ids: string[]
  scopes: string[]
  pkce_enabled: boolean
  email_optional: boolean
  skip_nonce_check: boolean
  issuer: string
  discovery_url: string
  authorization_url: string
  token_url: string
  userinfo_url: string
  jwks_uri: string
  attribute_mapping: Record<string, string>
  authorization_params: Record<string, string>
}

export interface CustomProviderChange {
  identifier?: string
  provider_type?: string
  name?: string
  enabled?: boolean
  client_id?: string
  client_secret?: string
  acceptable_client_ids?: string[]
  scopes?: string[]
  pkce_enabled?: boolean
  email_optional?: boolean
  skip_nonce_check?: boolean
  issuer?: string
  discovery_url?: string
  authorization_url?: string
  token_url?: string
  userinfo_url?: string
  jwks_uri?: string
  attribute_mapping?: Record<string, string>
  authorization_params?: Record<string, string>
}

export interface DDLBody {
  statements: string[]
  summary: string
  migration?: string
  concurrently?: boolean
  lock_timeout_ms?: number
}

export interface DDLDoneBody {
  duration_ms: number
  migration: string
}

export interface DatabaseBody {
  name: string
  version: string
  started_at: string
  bytes: number
  connections: number
  max_connections: number
  cache_hit_rate: number | null
}

export interface DependentBody {
  kind: string
  schema: string
  name: string
  blocks: boolean
}

export interface DiscoveredBody {
  issuer: string
  authorization_url: string
  token_url: string
  userinfo_url: string
  jwks_uri: string
  algorithms: string[]
}

export interface DuplicateIndex {
  schema: string
  table: string
  name: string
  bytes: number
  definition: string
  covered_by: string
  same: boolean
  sql: string
}

export interface ElevateRequest {
  password?: string
  code?: string
}

export interface EndSessionBody {
  started: string
}

export interface EndedSessions {
  ended: number
}

export interface EnumBody {
  schema: string
  name: string
  comment: string
  values: string[]
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
  where?: string
  index?: number
}

export interface ExploreAccess {
  role: string
  granted: string[]
  passed: string[]
}

export interface ExploreArgument {
  name: string
  type: string
  category: string
  enum_values?: string[]
  required: boolean
  variadic: boolean
}

export interface ExploreBody {
  anon_key: string
  schemas: string[]
  aggregates: boolean
  plans: boolean
  max_rows: number
  roles: string[]
  relations: ExploreRelation[]
  functions: ExploreFunction[]
}

export interface ExploreColumn {
  name: string
  type: string
  category: string
  enum_values?: string[]
  not_null: boolean
  has_default: boolean
  writable: boolean
  comment: string
}

export interface ExploreEmbed {
  schema: string
  target: string
  relation: string
  name: string
  hint: string
  constraint: string
  cardinality: string
  to_one: boolean
  through: string
  columns: string[]
}

export interface ExploreFunction {
  schema: string
  name: string
  comment: string
  arguments: ExploreArgument[]
  takes_body: boolean
  returns: string
  returns_set: boolean
  columns: ExploreColumn[]
  read_only: boolean
  roles: string[]
}

export interface ExploreRelation {
  schema: string
  name: string
  kind: string
  comment: string
  columns: ExploreColumn[]
  primary_key: string[]
  uniques: string[][]
  verbs: string[]
  rls: boolean
  access: ExploreAccess[]
  embeds: ExploreEmbed[]
  outside: string[]
}

export interface ExtensionBody {
  name: string
  version: string
  schema: string
  comment: string
}

export interface FindingBody {
  rule: string
  severity: string
  schema: string
  object: string
  kind: string
  table: string
  detail: string
  fix: string[]
  concurrently: boolean
}

export interface FindingRule {
  rule: string
  severity: string
  title: string
  why: string
  caution: string
}

export interface FindingsBody {
  findings: FindingBody[]
  rules: FindingRule[]
  truncated: string[]
  schemas: string[]
}

export interface ForeignKeyBody {
  name: string
  definition: string
  columns: string[]
  ref_schema: string
  ref_table: string
  ref_columns: string[]
  on_update: string
  on_delete: string
  valid: boolean
  deferrable: boolean
}

export interface FunctionBody {
  schema: string
  name: string
  arguments: string
  identity_arguments: string
  returns: string
  language: string
  security_definer: boolean
  volatility: string
  definition: string
  kind: string
  comment: string
}

export interface GainBody {
  before: number
  after: number
  bytes: number
  used: boolean
  query: string
  sql: string
}

export interface HolderBody {
  pid: number
  mode: string
  granted: boolean
  transaction_ms: number
  state: string
  application_name: string
  query: string
}

export interface HypotheticalBody {
  schema: string
  table: string
  columns: string[]
}

export interface ImpactBody {
  estimated_rows: number | null
  bytes: number
  index_bytes: number
  dependents: DependentBody[]
  holders: HolderBody[]
}

export interface ImportFinished {
  kept: boolean
  inserted: number
  skipped: number
  refused: number
  duration_ms: number
}

export interface ImportLine {
  done?: number
  refused?: RefusedRow
  error?: ErrorBody
  finished?: ImportFinished
}

export interface IndexBody {
  name: string
  definition: string
  unique: boolean
  primary: boolean
  valid: boolean
  bytes: number
  scans: number
}

export interface IndexSuggestion {
  schema: string
  table: string
  columns: string[]
  share: number
  after: number | null
  bytes: number | null
}

export interface IndexesBody {
  since: string | null
  hypothetical: boolean
  hypothetical_available: boolean
  unused: UnusedIndex[]
  duplicate: DuplicateIndex[]
  foreign_keys: BareForeignKey[]
  scanned: ScannedTable[]
  invalid: InvalidIndexBody[]
}

export interface InvalidIndexBody {
  schema: string
  table: string
  name: string
  sql: string
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

export interface KeysBody {
  api_url: string
  anon_key: string
}

export interface LibraryBody {
  name: string
  version: string
  licence: string
}

export interface LinkBody {
  purpose: 'invite' | 'reset'
  email: string
  role: string
  invited_by: string
}

export interface LinkRequest {
  token: string
}

export interface LockBody {
  relation: string
  mode: string
  held: number
  waiting: number
}

export interface LogBarBody {
  at: number
  seconds: number
  good: number
  refused: number
  failed: number
}

export interface MailPreviewBody {
  subject: string
  text: string
  html: boolean
}

export interface MailServerBody {
  host: string
  port: number
  security: 'starttls' | 'tls' | 'none'
  user: string
  password: boolean
}

export interface MailServerTest {
  to: string
  changes: Record<string, string | null>
}

export interface MailServerTestBody {
  to: string
  refused: string
}

export interface MailTemplateBody {
  language: string
  name: string
  subject: string
  html: string
  text: string
  origin: 'built-in' | 'folder' | 'stored'
  beneath: 'built-in' | 'folder'
  version: number
  changed_at: string | null
}

export interface MailTemplateChange {
  subject: string
  html: string
  text: string
  version: number
}

export interface MailTemplateReset {
  version: number
}

export interface MailTemplatesBody {
  templates: MailTemplateBody[]
  languages: string[]
  variables: Record<string, MailVariableBody[]>
  refused: string
  hook: boolean
}

export interface MailTestBody {
  to: string
  held: boolean
}

export interface MailVariableBody {
  name: string
  help: string
}

export interface Me {
  id: string
  email: string
  role: string
  totp: boolean
  recovery_codes: number
  passkeys: number
}

export interface MessageBody {
  id: string
  channel: string
  kind: string
  state: string
  user_id: string | null
  to: string
  new_email?: string
  link?: string
  token?: string
  token_hash?: string
  link_new?: string
  token_new?: string
  token_hash_new?: string
  redirect_to?: string
  created_at: string
  expires_at: string
  due_at?: string
  attempts: number
  failure?: string
  unreadable?: boolean
}

export interface MessageLetter {
  message: MessageBody
  subject: string
  text: string
  html: boolean
}

export interface OutboxList {
  messages: MessageBody[]
  mails: boolean
  texts: boolean
}

export interface OverviewBody {
  parts: Part[]
  pool: PoolBody
  database: DatabaseBody | null
  database_error: string
  errors: RequestEntry[]
  steps: StepBody[]
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

export interface Part {
  name: string
  ok: boolean
  reason: string
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

export interface PastQueryBody {
  id: number
  sql: string
  role: string
  ran_at: string
  duration_ms: number
  failure: string
}

export interface PoliciesBody {
  tables: PolicyTableBody[]
  schemas: string[]
  roles: string[]
  migrations: boolean
  truncated: boolean
}

export interface PolicyAskedBody {
  name: string
  permissive: boolean
  clause: string
  expression: string
}

export interface PolicyBody {
  name: string
  command: string
  permissive: boolean
  roles: string[]
  using: string | null
  check: string | null
}

export interface PolicyCheckBody {
  statements: string[]
}

export interface PolicyCheckedBody {
  duration_ms: number
}

export interface PolicyClaimsBody {
  role: string
  claims: { [claim: string]: unknown }
}

export interface PolicyColumnBody {
  name: string
  type: string
  generated: boolean
}

export interface PolicyGrantBody {
  role: string
  privileges: string[]
}

export interface PolicyRowBody {
  old: (string | null)[]
  new: (string | null)[]
  outcome: string
  error: ErrorBody | null
  stages: PolicyVerdictBody[]
}

export interface PolicyStageBody {
  stage: string
  policies: PolicyAskedBody[]
}

export interface PolicyTableBody {
  schema: string
  name: string
  owner: string
  rls: boolean
  rls_forced: boolean
  exposed: boolean
  owner_bypasses: boolean
  columns: PolicyColumnBody[]
  grants: PolicyGrantBody[]
  policies: PolicyBody[]
}

export interface PolicyTestBody {
  schema: string
  table: string
  role: string
  claims?: { [claim: string]: unknown }
  verb: string
  filter?: string
  set?: Record<string, string | null>
  read_back?: boolean
}

export interface PolicyTestedBody {
  bypassed: string
  refused: ErrorBody | null
  statement: string
  columns: string[]
  stages: PolicyStageBody[]
  rows: PolicyRowBody[]
  truncated: boolean
  limits: string[]
  duration_ms: number
}

export interface PolicyVerdictBody {
  passed: boolean
  asked: boolean
  answers: string[]
}

export interface PoolBody {
  max: number
  open: number
  in_use: number
  waiting: number
  refused: number
}

export interface ProviderBody {
  name: string
  state: 'on' | 'off' | 'unset'
  sources: string[]
  client_id: string
  url: string
  redirect_uri: string
  scopes: string[]
  variables: string[]
  stored: CustomProviderBody | null
}

export interface ProviderDiscovery {
  issuer: string
  discovery_url?: string
}

export interface ProvidersBody {
  callback_url: string
  built_in: ProviderBody[]
  custom: CustomProviderBody[]
  saml: SAMLBody
}

export interface QueriesBody {
  saved: SavedQueryBody[]
  history: PastQueryBody[]
}

export interface RESTRequestBody {
  method: string
  path: string
  headers?: Record<string, string>
  body?: string
}

export interface RESTStatementBody {
  sql: string
  parameters: (string | null)[]
  count: string
}

export interface RecoveryCodes {
  codes: string[]
}

export interface RefusedRow {
  line: number
  reason: string
  details?: string
  code: string
  column?: string
}

export interface RelationBody {
  oid: number
  schema: string
  name: string
  kind: string
  comment: string
  rls: boolean
  rls_forced: boolean
  estimated_rows: number | null
  bytes: number
  owner: string
  partition_of: string
  view_definition: string | null
  security_invoker: boolean
  insertable: boolean
  updatable: boolean
  deletable: boolean
  readers: string[]
  primary_key: string[]
  columns: ColumnBody[]
  foreign_keys: ForeignKeyBody[]
  uniques: ConstraintBody[]
  checks: ConstraintBody[]
  exclusions: ConstraintBody[]
  indexes: IndexBody[]
  triggers: TriggerBody[]
  policies: PolicyBody[]
}

export interface RequestEntry {
  id: string
  at: string
  duration_ms: number
  status: number
  bytes: number
  method: string
  path: string
  route: string
  ip: string
  role: string
  request_id: string
  code: string
}

export interface RequestLogBody {
  requests: RequestEntry[]
  next: string | null
  bars: LogBarBody[]
  matched: number
  looked: number
  source: string
  kept_seconds: number
  routes: string[]
}

export interface RoleBody {
  name: string
  login: boolean
  superuser: boolean
  bypass_rls: boolean
  owner: boolean
  usable: boolean
}

export interface RoleChange {
  role: string
}

export interface RouteBody {
  method: string
  route: string
  totals: TotalsBody
}

export interface RowChange {
  op: string
  key?: Record<string, string | null>
  set?: Record<string, string | null>
  was?: Record<string, string | null>
}

export interface RowChangesBody {
  changes: RowChange[]
}

export interface RowsBody {
  columns: string[]
  rows: ((string | null)[])[]
  undo: RowChange[]
}

export interface RungsBody {
  step: number
  keys: string[][]
}

export interface SAMLBody {
  on: boolean
  metadata_url: string
  acs_url: string
  providers: SAMLProviderBody[]
}

export interface SAMLProviderBody {
  id: string
  resource_id: string
  disabled: boolean
  entity_id: string
  metadata_url: string
  domains: string[]
  name_id_format: string
  attribute_mapping: unknown
}

export interface SAMLProviderChange {
  metadata_url?: string
  metadata_xml?: string
  domains?: string[]
  resource_id?: string
  disabled?: boolean
  name_id_format?: string
  attribute_mapping?: unknown
}

export interface SQLBody {
  id: string
  sql: string
  role?: string
  user?: string
  timeout_ms?: number
  max_rows?: number
  read_only?: boolean
  explain?: string
}

export interface SQLColumn {
  name: string
  type: string
  schema?: string
  table?: string
  source?: string
}

export interface SQLComplete {
  tag: string
  duration_ms: number
  rows: number
  truncated: boolean
}

export interface SQLFinished {
  duration_ms: number
  ok: boolean
  rolled_back: boolean
}

export interface SQLLine {
  statement?: SQLStatement
  columns?: SQLColumn[]
  rows?: ((string | null)[])[]
  plan?: unknown[]
  notice?: SQLNotice
  complete?: SQLComplete
  error?: ErrorBody
  finished?: SQLFinished
}

export interface SQLNotice {
  severity: string
  code: string
  message: string
  details?: string
  hint?: string
}

export interface SQLStatement {
  index: number
  sql: string
  start: number
  end: number
}

export interface SaveQueryBody {
  name?: string
  sql?: string
  role?: string
}

export interface SavedQueryBody {
  id: string
  name: string
  sql: string
  role: string
  created_at: string
  updated_at: string
}

export interface ScannedTable {
  schema: string
  table: string
  rows: number
  bytes: number
  scans: number
  rows_read: number
  index_scans: number
}

export interface SchemaBody {
  name: string
  comment: string
  owner: string
}

export interface SecondBody {
  at: number
  totals: TotalsBody
}

export interface ServerInfo {
  version: string
  api_url: string
  site_url: string
  production: boolean
}

export interface ServiceKeyBody {
  service_key: string
}

export interface SessionBody {
  pid: number
  started: string
  role: string
  application_name: string
  client: string
  state: string
  waits_for: string
  lock: string
  transaction_ms: number
  statement_ms: number
  query: string
  blocked_by: number[]
  own: boolean
}

export interface SettingBody {
  name: string
  title: string
  variable: string
  section: string
  kind: string
  help: string
  default: string
  value: string
  source: 'flag' | 'environment' | 'postgrest-config' | 'stored' | 'default'
  stored: string | null
  next: string
  waiting: boolean
  storable: boolean
  at_once: boolean
}

export interface SettingChanges {
  changes: Record<string, string | null>
}

export interface SettingRefusal {
  name: string
  reason: string
}

export interface SettingsBody {
  pid: number
  command: string
  settings: SettingBody[]
  mail_server: MailServerBody | null
  refused: SettingRefusal | null
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

export interface SigningKeyBody {
  id: string
  algorithm: string
  state: 'current' | 'standby' | 'previous'
  created_at: string
  changed_at: string
}

export interface SigningKeyRequest {
  algorithm: string
}

export interface SigningKeysBody {
  keys: SigningKeyBody[]
  algorithms: string[]
  published_for: number
}

export interface StatementBody {
  id: string
  role: string
  query: string
  calls: number
  rows: number
  total_ms: number
  mean_ms: number
  max_ms: number
  cache_hit_rate: number | null
}

export interface StatementsBody {
  state: string
  since: string | null
  total_ms: number
  statements: StatementBody[]
}

export interface StepBody {
  key: string
  done: boolean
  count: number
}

export interface TOTPCode {
  code: string
}

export interface TOTPSecret {
  secret: string
  uri: string
  qr_code: string
}

export interface TableHealth {
  schema: string
  table: string
  rows: number
  bytes: number
  index_bytes: number
  dead_rows: number
  bloat_bytes: number | null
  vacuumed_at: string | null
  analyzed_at: string | null
  cache_hit_rate: number | null
}

export interface TablesBody {
  cache_hit_rate: number | null
  index_hit_rate: number | null
  tables: TableHealth[]
}

export interface TailLine {
  requests?: RequestEntry[]
  dropped?: number
  beat?: boolean
  ended?: string
}

export interface TotalsBody {
  requests: number
  refused: number
  failed: number
  p50_ms: number
  p95_ms: number
}

export interface TrafficBody {
  seconds: SecondBody[]
  routes: RouteBody[]
  total: TotalsBody
}

export interface TriggerBody {
  name: string
  definition: string
  enabled: boolean
}

export interface UnusedIndex {
  schema: string
  table: string
  name: string
  bytes: number
  definition: string
  sql: string
}

export interface UserAudit {
  entries: UserAuditRow[]
}

export interface UserAuditRow {
  id: string
  at: string | null
  by: string
  action: string
  provider: string
  ip: string
}

export interface UserBody {
  id: string
  email: string
  phone: string
  role: string
  providers: string[]
  anonymous: boolean
  sso: boolean
  factors: number
  created_at: string | null
  last_sign_in_at: string | null
  email_confirmed_at: string | null
  phone_confirmed_at: string | null
  invited_at: string | null
  banned_until: string | null
  deleted_at: string | null
}

export interface UserChange {
  email?: string
  phone?: string
  password?: string
  email_confirm?: boolean
  phone_confirm?: boolean
  role?: string
  user_metadata?: string
  app_metadata?: string
  ban_duration?: string
}

export interface UserDetails {
  id: string
  email: string
  phone: string
  role: string
  providers: string[]
  anonymous: boolean
  sso: boolean
  factors: number
  created_at: string | null
  last_sign_in_at: string | null
  email_confirmed_at: string | null
  phone_confirmed_at: string | null
  invited_at: string | null
  banned_until: string | null
  deleted_at: string | null
  new_email: string
  new_phone: string
  updated_at: string | null
  user_metadata: string
  app_metadata: string
  identities: UserIdentity[]
  second_factors: UserFactorRow[]
}

export interface UserFactorRow {
  id: string
  type: string
  name: string
  status: string
  phone: string
  created_at: string | null
}

export interface UserIdentity {
  id: string
  provider: string
  provider_id: string
  email: string
  data: string
  created_at: string | null
  last_sign_in_at: string | null
}

export interface UserInvitation {
  email: string
  redirect_to?: string
  user_metadata?: string
}

export interface UserLink {
  link: string
  code: string
}

export interface UserLinkRequest {
  type: 'recovery' | 'magiclink' | 'invite'
  redirect_to?: string
}

export interface UserPage {
  users: UserBody[]
  next: string
}

export interface UserSending {
  kind: 'recovery' | 'magiclink' | 'confirmation' | 'sms'
}

export interface UserSessionRow {
  id: string
  created_at: string | null
  refreshed_at: string | null
  not_after: string | null
  level: string
  user_agent: string
  ip: string
  client: string
  methods: string[]
}

export interface UserSessions {
  sessions: UserSessionRow[]
}

export interface UserSummary {
  count: number
  exact: boolean
  providers: string[]
  mails: boolean
  texts: boolean
}
