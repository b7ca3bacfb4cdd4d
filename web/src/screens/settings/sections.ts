import type { SettingBody } from '../../generated/admin.ts'

/** A group of settings, or a page of its own beside them. */
interface Section { slug: string, label: string }

export const providers: Section = { slug: 'providers', label: 'Sign-in providers' }
export const mail: Section = { slug: 'mail', label: 'Mail templates' }
export const keys: Section = { slug: 'signing-keys', label: 'Signing keys' }
export const about: Section = { slug: 'about', label: 'About' }

/** A name as it stands in an address. */
function slug(label: string): string {
  return label.toLowerCase().replaceAll(/[^a-z]+/g, '-')
}

/** The settings that the templates stand behind. */
export const messages = 'mail-and-text-messages'

/** What the server calls the group of settings that stands below the providers. */
export const providerSettings = 'Providers'

/** Where a setting stands. */
export function sectionOf({ section }: SettingBody): Section {
  return section === providerSettings ? providers : { slug: slug(section), label: section }
}

/** Whether a setting is meant by what was typed: each word is in what it is called or in what it is for. */
export function finds({ title, name, variable, help }: SettingBody, typed: string): boolean {
  const text = `${title} --${name} ${variable} ${help}`.toLowerCase()
  return typed.toLowerCase().split(/\s+/).every((word) => text.includes(word))
}

/** The groups of settings in the order in which the server gives them, and the pages behind them. */
export function sections(settings: readonly SettingBody[]): Section[] {
  const groups = [...new Map(settings.map((setting) => [setting.section, sectionOf(setting)])).values()]
  return groups.flatMap((group) => group.slug === messages ? [group, mail] : [group]).concat(keys, about)
}

/** What a source is called. */
export const sources: Record<SettingBody['source'], string> = {
  'flag': 'by a flag', 'environment': 'by the environment', 'postgrest-config': 'by --postgrest-config', 'stored': 'set here', 'default': 'default',
}
