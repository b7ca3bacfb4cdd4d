import { failed } from './toast.svelte.ts'

/** Puts text on the clipboard; also where pages without TLS have no clipboard of their own. */
export async function copy(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text)
      return true
    }
    const area = document.createElement('textarea')
    area.value = text
    area.className = 'unseen'
    const host = document.querySelector('dialog:modal') ?? document.body // what is outside a modal dialog takes no focus
    host.append(area)
    const before = document.activeElement
    area.select()
    const worked = document.execCommand('copy')
    area.remove()
    if (before instanceof HTMLElement) before.focus()
    if (!worked) throw new Error('the browser does not let this page copy')
    return true
  } catch (error) {
    failed('Not copied', error)
    return false
  }
}
