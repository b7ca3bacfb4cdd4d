// Puts what floats beside what it belongs to, inside the window.

export type Side = 'bottom' | 'top' | 'right' | 'left'

const gap = 4 // px between the two
const edge = 8 // px that stay free at the window's edge

export interface Box { left: number, top: number, right: number, bottom: number }

/** Places an element of `position: fixed` beside a box; on the other side when there is more room. */
export function place(floating: HTMLElement, box: Box, side: Side = 'bottom', align: 'start' | 'center' | 'end' = 'start'): void {
  const { innerWidth, innerHeight } = window
  floating.style.maxHeight = ''
  const { offsetWidth: width, offsetHeight: natural } = floating
  let left: number
  let top: number
  if (side === 'bottom' || side === 'top') {
    const below = innerHeight - box.bottom - gap - edge
    const above = box.top - gap - edge
    const under = side === 'bottom' ? natural <= below || below >= above : natural > above && below > above
    const height = Math.min(natural, under ? below : above)
    if (height < natural) floating.style.maxHeight = `${height}px`
    top = under ? box.bottom + gap : box.top - gap - height
    left = align === 'start' ? box.left : align === 'end' ? box.right - width : (box.left + box.right - width) / 2
  } else {
    const after = innerWidth - box.right - gap - edge
    const right = side === 'right' ? width <= after || after >= box.left : width > box.left && after > box.left
    left = right ? box.right + gap : box.left - gap - width
    top = align === 'center' ? (box.top + box.bottom - natural) / 2 : box.top
  }
  const height = floating.offsetHeight
  floating.style.left = `${Math.max(edge, Math.min(left, innerWidth - width - edge))}px`
  floating.style.top = `${Math.max(edge, Math.min(top, innerHeight - height - edge))}px`
}

/** Keeps a floating element in place while it is shown. Gives the function that ends this. */
export function keepPlaced(floating: HTMLElement, anchor: () => Box, side?: Side, align?: 'start' | 'center' | 'end'): () => void {
  let frame = 0
  const again = () => {
    cancelAnimationFrame(frame)
    frame = requestAnimationFrame(() => place(floating, anchor(), side, align))
  }
  place(floating, anchor(), side, align)
  const watcher = new ResizeObserver(again)
  watcher.observe(floating)
  addEventListener('scroll', again, { capture: true, passive: true })
  addEventListener('resize', again)
  return () => {
    cancelAnimationFrame(frame)
    watcher.disconnect()
    removeEventListener('scroll', again, { capture: true })
    removeEventListener('resize', again)
  }
}
