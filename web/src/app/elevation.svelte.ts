// Asks a signed-in person to prove once more who they are, where the server wants that before it goes on.

class Elevation {
  /** Set while the question is open. */
  open = $state(false)
  #waiting: ((proved: boolean) => void)[] = []

  /** Asks, and tells whether the person has proved it. Several requests that wait share one question. */
  ask(): Promise<boolean> {
    this.open = true
    return new Promise((resolve) => { this.#waiting.push(resolve) })
  }

  answer(proved: boolean): void {
    this.open = false
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve(proved)
  }
}

export const elevation = new Elevation()
