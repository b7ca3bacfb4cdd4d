export interface AdministratorBody {
  id: string;
  email: string;
  role: string;
  totp: boolean;
  passkeys: number;
}
export interface ServerBody {
  version: string;
  api_url: string;
  site_url: string;
  production: boolean;
}
export interface SessionBody {
  administrator: AdministratorBody;
  server: ServerBody;
}
export interface SetupStateBody {
  needed: boolean;
}
