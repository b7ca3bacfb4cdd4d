// The texts that are being written, kept on this device so that a reload, a crash and signing out lose nothing.
import { session } from '../../app/session.svelte.ts'

export interface Tab { id: string, name: string, text: string, saved?: string | undefined }

/** How many tabs there may be. */
export const mostTabs = 50
/** Longer texts are not kept over a reload: browsers give a page a few megabytes. */
const longest = 500_000

export class Tabs {
  list = $state.raw<readonly Tab[]>([])
  /** The browser keeps no more, or nothing at all. */
  lost = $state(false)
  readonly #key = `basalt.sql.${session.administrator.id}`

  constructor() {
    this.#read()
    if (this.list.length === 0) this.list = [{ id: newId(), name: 'Query 1', text: '' }]
  }

  /** Follows what other windows change. Gives the function that ends this. */
  follow(open: () => string): () => void {
    const changed = (event: StorageEvent) => {
      if (event.key === null || !event.key.startsWith(this.#key)) return
      const mine = this.list.find((tab) => tab.id === open())
      this.#read()
      // What is being typed here goes before what another window wrote.
      if (mine) this.list = this.list.some((tab) => tab.id === mine.id) ? this.list.map((tab) => tab.id === mine.id ? { ...tab, text: mine.text } : tab) : [...this.list, mine]
    }
    addEventListener('storage', changed)
    return () => removeEventListener('storage', changed)
  }

  add(text = '', name?: string, saved?: string): Tab {
    const taken = new Set(this.list.map((tab) => tab.name))
    let number = this.list.length + 1
    while (taken.has(`Query ${number}`)) number++
    const tab: Tab = { id: newId(), name: name ?? `Query ${number}`, text, ...(saved ? { saved } : {}) }
    this.list = [...this.list, tab]
    this.#keep(tab)
    return tab
  }

  change(id: string, changes: Partial<Omit<Tab, 'id'>>): void {
    this.list = this.list.map((tab) => tab.id === id ? { ...tab, ...changes } : tab)
    const tab = this.list.find((one) => one.id === id)
    if (tab) this.#keep(tab)
  }

  /** Takes a tab away; gives the function that puts it back. */
  remove(id: string): () => void {
    const before = this.list
    const tab = before.find((one) => one.id === id)
    this.list = before.filter((one) => one.id !== id)
    if (this.list.length === 0) this.add()
    this.#store(`${this.#key}.${id}`, undefined)
    this.#index()
    return () => {
      if (!tab || this.list.some((one) => one.id === id)) return
      const at = before.indexOf(tab)
      this.list = [...this.list.slice(0, at), tab, ...this.list.slice(at)]
      this.#keep(tab)
    }
  }

  #keep(tab: Tab): void {
    this.#store(`${this.#key}.${tab.id}`, tab.text.length > longest ? undefined : tab.text)
    if (tab.text.length > longest) this.lost = true
    this.#index()
  }

  #index(): void {
    this.#store(this.#key, JSON.stringify(this.list.map(({ id, name, saved }) => ({ id, name, saved }))))
  }

  #store(key: string, value: string | undefined): void {
    try {
      if (value === undefined) localStorage.removeItem(key)
      else localStorage.setItem(key, value)
    } catch {
      this.lost = true
    }
  }

  #read(): void {
    try {
      const index: unknown = JSON.parse(localStorage.getItem(this.#key) ?? '[]')
      if (!Array.isArray(index)) return
      this.list = index.filter((tab): tab is Tab => typeof tab?.id === 'string' && typeof tab?.name === 'string').slice(0, mostTabs)
        .map(({ id, name, saved }) => ({ id, name, text: localStorage.getItem(`${this.#key}.${id}`) ?? '', ...(typeof saved === 'string' ? { saved } : {}) }))
    } catch {
      // nothing that this page wrote, or storage is switched off
    }
  }
}

function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(5))].map((byte) => byte.toString(36).padStart(2, '0')).join('')
}
