// What the window and the top bar say of the screen.

class Title {
  /** What the screen says of itself, such as the name of its table; else the route's title is shown. */
  own = $state('')
}

export const title = new Title()

/** Names what the screen shows for as long as it lives. */
export function useTitle(text: () => string): void {
  $effect(() => {
    title.own = text()
    return () => { title.own = '' }
  })
}
