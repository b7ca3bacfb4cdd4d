// How the dashboard looks on this device.

export type Scheme = 'system' | 'light' | 'dark'
export type Density = 'compact' | 'normal' | 'roomy'

function stored<T extends string>(key: string, values: readonly T[], otherwise: T): T {
  try {
    const value = localStorage.getItem(key) as T
    return values.includes(value) ? value : otherwise
  } catch {
    return otherwise // storage is switched off
  }
}

function store(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {
    // it holds until the page is closed
  }
}

class Theme {
  #scheme = $state(stored<Scheme>('basalt.scheme', ['system', 'light', 'dark'], 'system'))
  #density = $state(stored<Density>('basalt.density', ['compact', 'normal', 'roomy'], 'normal'))
  #singleKeys = $state(stored('basalt.keys', ['on', 'off'], 'on'))

  constructor() { this.#apply() }

  get scheme(): Scheme { return this.#scheme }
  set scheme(value: Scheme) {
    this.#scheme = value
    store('basalt.scheme', value)
    this.#apply()
  }

  get density(): Density { return this.#density }
  set density(value: Density) {
    this.#density = value
    store('basalt.density', value)
    this.#apply()
  }

  /** Whether shortcuts of one letter work (WCAG 2.1.4 wants a way to turn them off). */
  get singleKeys(): boolean { return this.#singleKeys === 'on' }
  set singleKeys(value: boolean) {
    this.#singleKeys = value ? 'on' : 'off'
    store('basalt.keys', this.#singleKeys)
  }

  #apply(): void {
    const { dataset } = document.documentElement
    if (this.#scheme === 'system') delete dataset.theme
    else dataset.theme = this.#scheme
    dataset.density = this.#density
  }
}

export const theme = new Theme()
