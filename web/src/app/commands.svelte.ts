// What the palette finds: screens, actions of the screen that is open, and what the server knows by name.
import { untrack } from 'svelte'
import type { IconName } from '../kit/icons.ts'

export interface Command {
  label: string
  group: string
  icon?: IconName
  hint?: string
  keys?: string
  /** Further words by which it is found. */
  words?: string
  href?: string
  run?: () => void
  /** Why it cannot be chosen: it is found and read all the same. */
  refused?: string | undefined
}

/** Gives commands for what was typed. */
type Source = (typed: string, signal: AbortSignal) => readonly Command[] | Promise<readonly Command[]>

let sources = $state.raw<readonly Source[]>([])

export const palette = $state({ open: false })

export function commandSources(): readonly Source[] {
  return sources
}

/** Adds commands to the palette until the function it gives is called. */
export function addCommands(source: Source): () => void {
  sources = [...untrack(() => sources), source] // an effect that adds must not run again for what it added
  return () => { sources = untrack(() => sources).filter((one) => one !== source) }
}

/** Adds commands for as long as the component lives. */
export function useCommands(source: Source): void {
  $effect(() => addCommands(source))
}

/** How well a command fits what was typed: every word must be found; the beginning of a word counts more. 0 is not at all. */
export function fits(command: Command, typed: string): number {
  const text = `${command.label} ${command.hint ?? ''} ${command.words ?? ''} ${command.group}`.toLowerCase()
  let sum = 1
  for (const word of typed.toLowerCase().split(/\s+/)) {
    if (word === '') continue
    const at = text.indexOf(word)
    if (at < 0) return 0
    sum += at === 0 ? 4 : /[\s._-]/.test(text[at - 1]!) ? 3 : at < command.label.length ? 2 : 1
  }
  return sum
}
