// What is typed into a drawer until it is saved, with what every such drawer does: ask before it is lost, save once, and
// show what was refused.
import { ask } from '../kit/confirm.svelte.ts'
import { done } from '../kit/toast.svelte.ts'
import { aborted } from './api.ts'

/** Asks whether what was typed may be lost. */
export function askToLose(text = 'What you have typed is not saved.'): Promise<boolean> {
  return ask({ title: 'Close without saving?', text, action: 'Close', danger: true })
}

export class Draft<T extends object> {
  /** As it was when the drawer was opened. */
  readonly start: Readonly<T>
  /** As it is now: fields are bound to its members. */
  values: T
  busy = $state<'' | 'save' | 'remove'>('')
  error = $state.raw<unknown>()
  readonly #close: () => void

  constructor(start: T, close: () => void) {
    this.start = start
    this.values = $state({ ...start })
    this.#close = close
  }

  get dirty(): boolean { return JSON.stringify(this.values) !== JSON.stringify(this.start) }

  /** For `mayClose` of the drawer. */
  readonly mayClose = async (): Promise<boolean> => this.busy === '' && (!this.dirty || await askToLose())

  /** Closes the drawer, unless something would be lost that is wanted. */
  readonly leave = async (): Promise<void> => { if (await this.mayClose()) this.#close() }

  /** Saves or removes, says so and closes; a refusal is kept as `error` and the drawer stays. */
  async act(name: 'save' | 'remove', what: () => Promise<void>, said: string): Promise<void> {
    if (this.busy !== '') return
    this.busy = name
    this.error = undefined
    try {
      await what()
      done(said)
      this.#close()
    } catch (reason) {
      if (!aborted(reason)) this.error = reason
    } finally {
      this.busy = ''
    }
  }
}
