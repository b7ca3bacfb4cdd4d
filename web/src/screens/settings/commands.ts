// What the palette finds of the settings: their sections, and each of them by what it is called and by what it is for.
import { api } from '../../app/api.ts'
import type { Command } from '../../app/commands.svelte.ts'
import { known, remember } from '../../app/query.svelte.ts'
import { href } from '../../app/router.svelte.ts'
import { session } from '../../app/session.svelte.ts'
import type { SettingsBody } from '../../generated/admin.ts'
import { sectionOf, sections } from './sections.ts'

export async function settingCommands(typed: string, signal: AbortSignal): Promise<readonly Command[]> {
  // Nobody looks through all of them in the palette, and others than owners may not read them.
  if (typed === '' || !session.may('owner')) return []
  let body = known<SettingsBody>(['settings'])
  if (!body) {
    body = await api.get<SettingsBody>('/settings', { signal })
    remember(['settings'], body)
  }
  return [
    ...sections(body.settings).map(({ slug, label }): Command => ({ label, group: 'Settings', icon: 'settings', href: href('/settings/:section', { section: slug }) })),
    ...body.settings.map((setting): Command => ({
      label: setting.title, group: 'Settings', icon: 'settings', hint: sectionOf(setting).label, words: `--${setting.name} ${setting.variable} ${setting.help}`,
      href: href('/settings/:section', { section: sectionOf(setting).slug }, { setting: setting.name }),
    })),
  ]
}
