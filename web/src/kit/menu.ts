import type { IconName } from './icons.ts'

/** A line of a menu: an action, a link, a choice (with `checked`), a heading or a line between groups. `refused` says why a line cannot be chosen; it is reached and read all the same. */
export type MenuItem =
  | { kind?: 'item', label: string, icon?: IconName, hint?: string, keys?: string, danger?: boolean, disabled?: boolean, refused?: string | undefined, checked?: boolean, run?: () => void, href?: string }
  | { kind: 'heading', label: string }
  | { kind: 'line' }
