import type { ProviderBody } from '../../../generated/admin.ts'

const labels: Record<string, string> = {
  apple: 'Apple', azure: 'Microsoft (Azure)', discord: 'Discord', facebook: 'Facebook', github: 'GitHub', gitlab: 'GitLab', google: 'Google',
  keycloak: 'Keycloak', linkedin_oidc: 'LinkedIn', slack_oidc: 'Slack', twitter: 'X (Twitter)', x: 'X (Twitter)',
}

/** What a provider is called. */
export function labelOf(name: string): string {
  return labels[name] ?? name
}

/** The state of a provider, in words. */
export const states: Record<ProviderBody['state'], { label: string, tone: 'good' | 'warn' | 'plain' }> = {
  on: { label: 'on', tone: 'good' }, off: { label: 'switched off', tone: 'warn' }, unset: { label: 'not set', tone: 'plain' },
}

/** The words of a line, be they parted by blanks or commas. */
export function words(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean)
}

/** Pairs as lines of name=value, and back. */
export function lines(pairs: Record<string, string>): string {
  return Object.entries(pairs).map(([name, value]) => `${name}=${value}`).join('\n')
}

export function pairs(text: string): Record<string, string> {
  return Object.fromEntries(text.split('\n').map((line) => line.trim()).filter(Boolean).map((line) => {
    const at = line.indexOf('=')
    return at < 0 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
  }))
}
