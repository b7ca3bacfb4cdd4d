import type { MailTemplateBody } from '../../../generated/admin.ts'

const labels: Record<string, string> = {
  confirmation: 'Confirm an address',
  invite: 'Invitation',
  magic_link: 'Sign-in link',
  recovery: 'Password reset',
  email_change: 'Change of address',
  reauthentication: 'Code before a change',
  password_changed_notification: 'Password changed',
  email_changed_notification: 'Address changed',
  phone_changed_notification: 'Telephone changed',
  identity_linked_notification: 'Sign-in linked',
  identity_unlinked_notification: 'Sign-in unlinked',
  mfa_factor_enrolled_notification: 'Second factor added',
  mfa_factor_unenrolled_notification: 'Second factor removed',
  layout: 'Frame of all mails',
}

/** What a template is called. */
export function labelOf(name: string): string {
  return labels[name] ?? name
}

/** Tells templates that only tell users of a change: which are sent is a setting. */
export function isNotice(name: string): boolean {
  return name.endsWith('_notification')
}

const languages = new Intl.DisplayNames(undefined, { type: 'language', fallback: 'code' })

/** A language in the words of the browser's own. */
export function languageOf(tag: string): string {
  try {
    return languages.of(tag) ?? tag
  } catch {
    return tag
  }
}

/** Where a template comes from, in words. */
export function originOf(template: MailTemplateBody): { label: string, tone: 'plain' | 'info' | 'accent' | 'warn' } {
  if (template.version !== 0 && template.origin !== 'stored') return { label: 'written here, not used', tone: 'warn' }
  return { 'built-in': { label: 'built in', tone: 'plain' }, 'folder': { label: 'from the folder', tone: 'info' }, 'stored': { label: 'written here', tone: 'accent' } }[template.origin] as ReturnType<typeof originOf>
}
