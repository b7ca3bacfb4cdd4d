/** Pixels kept free between a panel and the edge of the window. */
const margin = 8

/** Puts a floating panel over a box, from its top left corner on, moved so that all of it is in the window. */
export function cover(panel: HTMLElement, box: DOMRect): void {
  const { style } = panel
  style.maxWidth = `${window.innerWidth - 2 * margin}px`
  style.maxHeight = `${window.innerHeight - 2 * margin}px`
  const { width, height } = panel.getBoundingClientRect()
  style.left = `${clamp(box.left, window.innerWidth - width - margin)}px`
  style.top = `${clamp(box.top, window.innerHeight - height - margin)}px`
}

function clamp(at: number, most: number): number {
  return Math.max(margin, Math.min(at, most))
}
