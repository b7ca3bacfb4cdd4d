// The request that is composed, which lives in the address.
import { untrack } from 'svelte'
import { router } from '../../app/router.svelte.ts'
import { languages, type CodeLanguage } from './code/place.ts'
import { read, write, type Request } from './code/request.ts'

const patience = 200
const languageKey = 'basalt.explore.language'

export class Composer {
  request = $state() as Request
  #written = ''
  #timer: ReturnType<typeof setTimeout> | undefined

  /** Follows the address and writes it. `begin` gives the request of an address that says nothing. Called while a component is made. */
  constructor(schema: () => string, name: () => string, begin: () => Request) {
    let target = ''
    const load = () => {
      const text = router.query.get('r')
      const here = JSON.stringify([schema(), name()])
      if (here === target && (text ?? '') === this.#written) return
      clearTimeout(this.#timer)
      target = here
      this.#written = text ?? ''
      this.request = text ? read(text, schema(), name()) : untrack(begin)
    }
    load()
    $effect.pre(load)
    $effect(() => {
      const text = write($state.snapshot(this.request) as Request)
      const plain = write(untrack(begin))
      const next = text === plain ? '' : text || '{}'
      if (next === untrack(() => this.#written)) return
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => {
        this.#written = next
        router.setQuery({ r: next }, { replace: true })
      }, patience)
      return () => clearTimeout(this.#timer)
    })
  }
}

/** In which language code is shown: as the address says, else as was last chosen. */
class Language {
  #chosen = $state(kept())
  get value(): CodeLanguage { return languages.find((one) => one === router.query.get('lang')) ?? this.#chosen }
  set value(next: CodeLanguage) {
    this.#chosen = next
    try {
      localStorage.setItem(languageKey, next)
    } catch {
      // it holds until the page is closed
    }
    router.setQuery({ lang: next }, { replace: true })
  }
}

function kept(): CodeLanguage {
  try {
    return languages.find((one) => one === localStorage.getItem(languageKey)) ?? 'javascript'
  } catch {
    return 'javascript'
  }
}

export const language = new Language()
