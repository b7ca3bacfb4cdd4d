// Asks a person before something that cannot be taken back.

interface Question {
  title: string
  text: string
  /** What the button says that goes on: a verb. */
  action: string
  danger?: boolean
  /** A name that must be typed first: for what destroys data. */
  typeName?: string
  /** What else goes or is touched, a line each. */
  consequences?: readonly string[]
}

class Asking {
  question = $state.raw<Question>()
  #answer: ((yes: boolean) => void) | undefined

  ask(question: Question): Promise<boolean> {
    this.#answer?.(false)
    this.question = question
    return new Promise((resolve) => { this.#answer = resolve })
  }

  answer(yes: boolean): void {
    this.question = undefined
    this.#answer?.(yes)
    this.#answer = undefined
  }
}

export const asking = new Asking()

/** Shows a question and gives the answer. */
export function ask(question: Question): Promise<boolean> {
  return asking.ask(question)
}
