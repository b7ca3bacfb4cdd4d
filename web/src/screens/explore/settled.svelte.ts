// A value that is followed once it has rested: what is asked of the server as a person types.

const patience = 250

export function settled<T>(of: () => T): { readonly value: T } {
  let value = $state.raw(of())
  $effect(() => {
    const next = of()
    const timer = setTimeout(() => { value = next }, patience)
    return () => clearTimeout(timer)
  })
  return { get value() { return value } }
}
