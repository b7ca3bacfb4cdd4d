// What is typed into a drawer until it is saved, with what every such drawer does: ask before it is lost, save once, and
// show what was refused.
import { ask } from '../kit/confirm.svelte.ts'
import { done } from '../kit/toast.svelte.ts'
import { aborted } from './api.ts'

/** Asks whether what was typed may be lost. */
export function askToLose(text = 'What you have typed is not saved.'): Promise<boolean> {
  return ask({ title: 'Close without saving?', text, action: 'Close', danger: true })
}

interface Loss {
  /** Whether something would be lost, where the values alone do not tell. */
  dirty?: () => boolean
  /** What is said of it. */
  text?: string
}

export class Draft<T extends object> {
  /** As it was when the drawer was opened. */
  readonly start: Readonly<T>
  /** As it is now: fields are bound to its members. */
  values: T
  busy = $state<'' | 'save' | 'remove'>('')
  error = $state.raw<unknown>()
  readonly #close: (acted: boolean) => void
  readonly #loss: Loss
  #acted = false

  /** `close` is told whether what the drawer is for was done. */
  constructor(start: T, close: (acted: boolean) => void, loss: Loss = {}) {
    this.start = start
    this.values = $state({ ...start })
    this.#close = close
    this.#loss = loss
  }

  /** Something would be lost if the drawer were closed now. */
  get dirty(): boolean { return !this.#acted && (this.#loss.dirty?.() ?? JSON.stringify(this.values) !== JSON.stringify(this.start)) }

  /** For `mayClose` of the drawer. */
  readonly mayClose = async (): Promise<boolean> => this.busy === '' && (!this.dirty || await askToLose(this.#loss.text))

  /** Closes the drawer, unless something would be lost that is wanted. */
  readonly leave = async (): Promise<void> => { if (await this.mayClose()) this.#close(false) }

  /** Saves or removes, says so, with what that gives, and closes; a refusal is kept as `error` and the drawer stays. */
  async act(name: 'save' | 'remove', what: () => Promise<string | void>, said: string): Promise<void> {
    if (this.busy !== '') return
    this.busy = name
    this.error = undefined
    try {
      done(said, await what() || undefined)
      this.#acted = true
      this.#close(true)
    } catch (reason) {
      if (!aborted(reason)) this.error = reason
    } finally {
      this.busy = ''
    }
  }
}
