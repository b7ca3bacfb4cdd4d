const pause = 250 // ms

/** A function that runs once its calls have rested for a moment, as while a person types. Called while a component is made: what still waits is dropped with it. */
export function debounced(run: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  $effect(() => () => clearTimeout(timer))
  return () => {
    clearTimeout(timer)
    timer = setTimeout(run, pause)
  }
}
