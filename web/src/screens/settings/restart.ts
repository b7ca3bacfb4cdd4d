// How the server is restarted by hand, as it was started.
import type { SettingBody, SettingsBody } from '../../generated/admin.ts'
import { word } from '../../kit/shell.ts'

/** A word of the shell, quoted where it has to be. */
function quoted(text: string): string {
  return /^[\w@%+:,./-]*$/.test(text) ? text : word(text)
}

/** A flag as it was given. The value of a secret is not known here. */
function flag({ name, kind, value }: SettingBody): string {
  if (kind === 'secret') return `--${name} …`
  return `--${name}=${quoted(value)}`
}

export function restart({ pid, command, settings }: SettingsBody): string {
  const flags = settings.filter((setting) => setting.source === 'flag').map(flag)
  return `kill -TERM ${pid}\n${[`${quoted(command)} serve`, ...flags].join(' ')}`
}
