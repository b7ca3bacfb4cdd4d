/** Pixels kept free between a panel and the edge of the window. */
const margin = 8

/**
 * Puts a floating panel below a box (or `over` it), moved and shortened so that all of it is in the window.
 */
export function anchor(panel: HTMLElement, box: DOMRect, over: boolean): void {
  const style = panel.style
  style.maxWidth = `${window.innerWidth - 2 * margin}px`
  style.maxHeight = `${window.innerHeight - 2 * margin}px`
  const { width, height } = panel.getBoundingClientRect()
  const below = over ? box.top : box.bottom + 2
  const above = over ? box.bottom - height : box.top - 2 - height
  const fits = below + height <= window.innerHeight - margin
  const top = fits || above < margin ? below : above
  style.left = `${clamp(box.left, window.innerWidth - width - margin)}px`
  style.top = `${clamp(top, window.innerHeight - height - margin)}px`
}

function clamp(at: number, most: number): number {
  return Math.max(margin, Math.min(at, most))
}
