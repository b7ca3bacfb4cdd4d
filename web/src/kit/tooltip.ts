// A line that says what a control does, at hover and at focus by keyboard. One element serves all controls.
import { place } from './place.ts'

const delay = 450 // ms

let bubble: HTMLElement | undefined
let owner: Element | undefined
let timer: ReturnType<typeof setTimeout> | undefined

function element(): HTMLElement {
  if (bubble) return bubble
  bubble = document.createElement('div')
  bubble.className = 'tooltip'
  bubble.popover = 'manual'
  bubble.setAttribute('aria-hidden', 'true') // the control's own name says the same
  bubble.addEventListener('pointerenter', () => clearTimeout(timer)) // it may be hovered (WCAG 1.4.13)
  bubble.addEventListener('pointerleave', hide)
  document.body.append(bubble)
  addEventListener('keydown', (event) => { if (event.key === 'Escape') hide() }, { capture: true })
  addEventListener('scroll', hide, { capture: true, passive: true })
  // What is pressed or focused elsewhere may cover its control, which is then not told that it is left.
  for (const kind of ['pointerdown', 'focusin']) {
    addEventListener(kind, ({ target }) => {
      if (target instanceof Node && owner && !owner.contains(target) && target !== bubble) hide()
    }, { capture: true })
  }
  return bubble
}

function show(node: Element, text: string): void {
  if (!node.isConnected) return
  const tip = element()
  owner = node
  tip.textContent = text
  if (tip.matches(':popover-open')) tip.hidePopover() // to the top of the top layer
  tip.showPopover()
  place(tip, node.getBoundingClientRect(), 'bottom', 'center')
}

function hide(): void {
  clearTimeout(timer)
  owner = undefined
  if (bubble?.matches(':popover-open')) bubble.hidePopover()
}

/** For `{@attach tooltip(() => text)}`. The text repeats or adds to the control's name, it does not replace it. */
export function tooltip(text: () => string | undefined): (node: Element) => () => void {
  return (node) => {
    const later = () => {
      const said = text()
      if (!said) return
      clearTimeout(timer)
      timer = setTimeout(show, owner ? 60 : delay, node, said)
    }
    const entered = (event: Event) => { if ((event as PointerEvent).pointerType !== 'touch') later() }
    const left = () => {
      clearTimeout(timer)
      if (owner === node) timer = setTimeout(hide, 80)
    }
    const focused = () => { if (node.matches(':focus-visible')) later() }
    const pressed = () => { if (owner === node || !owner) hide() }
    // What refuses to be pressed says why at once: fingers do not hover.
    const clicked = () => {
      const said = node.getAttribute('aria-disabled') === 'true' && text()
      if (said) show(node, said)
    }
    node.addEventListener('click', clicked)
    node.addEventListener('pointerenter', entered)
    node.addEventListener('pointerleave', left)
    node.addEventListener('focus', focused)
    node.addEventListener('blur', left)
    node.addEventListener('pointerdown', pressed)
    return () => {
      if (owner === node) hide()
      node.removeEventListener('click', clicked)
      node.removeEventListener('pointerenter', entered)
      node.removeEventListener('pointerleave', left)
      node.removeEventListener('focus', focused)
      node.removeEventListener('blur', left)
      node.removeEventListener('pointerdown', pressed)
    }
  }
}
