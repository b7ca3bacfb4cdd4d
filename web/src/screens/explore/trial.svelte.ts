// Runs of a request that is composed, and what the last one gave. Writes are asked about, and are undone unless wanted.
import { aborted } from '../../app/api.ts'
import { needs } from '../../app/needs.ts'
import { viewAs } from '../../app/viewas.svelte.ts'
import type { ExploreBody } from '../../generated/admin.ts'
import { ask } from '../../kit/confirm.svelte.ts'
import type { Request } from './code/request.ts'
import { json } from './code/url.ts'
import { asSent, run, type Sent } from './send.ts'

export class Trial {
  readonly #request: () => Request
  readonly #body: () => ExploreBody
  rollback = $state(true)
  answer = $state.raw<Sent & { of: string, undone: boolean, as: string }>()
  error = $state.raw<unknown>()
  #stop = $state.raw<AbortController>()

  readonly #sent = $derived.by(() => asSent(this.#request(), this.#body()))
  readonly writes = $derived(this.#sent.method !== 'GET')
  /** What would be sent now. */
  readonly now = $derived(JSON.stringify(this.#sent))
  readonly refusal = $derived.by(() => {
    const { verb, body } = this.#request()
    const badBody = ['insert', 'update', 'upsert'].includes(verb) && json(body) === undefined
    return (this.writes ? needs('editor') : undefined) ?? (badBody ? 'The body is no JSON yet.' : undefined)
  })

  /** Follows a request. Called while a component is made, with which what runs ends. */
  constructor(request: () => Request, body: () => ExploreBody) {
    this.#request = request
    this.#body = body
    $effect(() => () => this.cancel())
  }

  get running(): boolean { return this.#stop !== undefined }

  cancel(): void { this.#stop?.abort() }

  async run(): Promise<void> {
    const request = this.#request()
    if (this.writes && !this.rollback) {
      const unfiltered = (request.verb === 'update' || request.verb === 'delete') && request.filters.length === 0
      const yes = await ask({
        title: unfiltered ? `${request.verb === 'delete' ? 'Delete' : 'Change'} every row?` : 'Run this write?', action: 'Run', danger: true,
        text: `It runs as ${viewAs.name} and what it changes stays.${unfiltered ? ' There is no condition: it is about all rows that the role may see.' : ''}`,
        ...(unfiltered ? { typeName: request.name } : {}),
      })
      if (!yes) return
    }
    this.cancel()
    const own = this.#stop = new AbortController()
    const [of, undone, as] = [this.now, this.writes && this.rollback, viewAs.name]
    this.error = undefined
    try {
      const got = await run($state.snapshot(request) as Request, this.#body(), viewAs.headers, this.rollback, own.signal)
      this.answer = { ...got, of, undone, as }
    } catch (failure) {
      if (aborted(failure)) return
      this.error = failure
      this.answer = undefined
    } finally {
      if (this.#stop === own) this.#stop = undefined
    }
  }
}
