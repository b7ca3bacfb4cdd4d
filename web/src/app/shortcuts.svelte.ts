// The keys of the dashboard: which there are, and what they do where.
import { untrack } from 'svelte'
import { theme } from './theme.svelte.ts'

interface Shortcut {
  /** `mod+k` (Ctrl, or Command on a Mac), `shift+?`, `Escape`, or keys one after the other: `g t`. */
  keys: string
  label: string
  group?: string
  run: () => void
  /** Works also while somebody types. */
  whileTyping?: boolean
}

export const mac = /Mac|iP(hone|ad|od)/.test(navigator.platform)

// Not deeply reactive: a shortcut is found again by what it is.
let active = $state.raw<readonly Shortcut[]>([])

/** All shortcuts that work now, for the list of them. */
export function shortcuts(): readonly Shortcut[] {
  return active
}

/** Adds shortcuts for as long as the component lives. */
export function useShortcuts(...added: Shortcut[]): void {
  $effect(() => addShortcuts(...added))
}

/** Adds shortcuts until the function it gives is called. Later ones go before earlier ones with the same keys. */
export function addShortcuts(...added: Shortcut[]): () => void {
  active = [...added, ...untrack(() => active)] // an effect that adds must not run again for what it added
  return () => { active = untrack(() => active).filter((shortcut) => !added.includes(shortcut)) }
}

/** The keys as they are shown: `mod+k` as "Ctrl K" or "⌘K". */
export function shown(keys: string): string[] {
  const names: Record<string, string> = { mod: mac ? '⌘' : 'Ctrl', shift: mac ? '⇧' : 'Shift', alt: mac ? '⌥' : 'Alt', Escape: 'Esc', Enter: '↵', ArrowUp: '↑', ArrowDown: '↓' }
  return keys.split(' ').flatMap((step) => step === 'shift+?' ? ['?'] : step.split('+').map((part) => names[part] ?? (part.length === 1 ? part.toUpperCase() : part)))
}

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches('input:not([type=checkbox], [type=radio], [type=button]), textarea, select, [role=grid] *'))
}

function pressed(event: KeyboardEvent): string {
  const mod = mac ? event.metaKey : event.ctrlKey
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key
  return (mod ? 'mod+' : '') + (event.altKey ? 'alt+' : '') + (event.shiftKey && (mod || event.key.length > 1 || key === '?') ? 'shift+' : '') + key
}

let begun = ''
let forget: ReturnType<typeof setTimeout> | undefined

export function listen(): void {
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing) return
    const inText = typing(event.composedPath()[0] ?? null) // also in a shadow root
    const modal = document.querySelector('dialog:modal') !== null
    const key = pressed(event)
    const chain = begun ? begun + ' ' + key : key
    clearTimeout(forget)
    begun = ''
    for (const shortcut of active) {
      const single = !/mod|alt|^Escape$|^F\d/.test(shortcut.keys)
      if (single && (!theme.singleKeys || inText || modal)) continue
      if ((inText || modal) && !shortcut.whileTyping) continue
      if (shortcut.keys === chain) {
        event.preventDefault()
        shortcut.run()
        return
      }
      if (shortcut.keys.startsWith(chain + ' ')) begun = chain
    }
    if (begun) forget = setTimeout(() => { begun = '' }, 1200)
  })
}
