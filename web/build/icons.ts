// Gives the icons that src/kit/icons.ts names, taken from Lucide (ISC), each as the data of one path.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'
import { icons as names } from '../src/kit/icons.ts'

const module = 'virtual:icons'

function draw(name: string): string {
  const file = fileURLToPath(new URL(`../node_modules/lucide-static/icons/${name}.svg`, import.meta.url))
  const shapes = readFileSync(file, 'utf8').replace(/^[^]*?<svg[^>]*>/, '')
  return [...shapes.matchAll(/<(\w+)([^>]*)>/g)].map(([, shape, attributes]) => pathOf(shape!, attributes!)).join('')
}

/** A shape of SVG as path data; the same line is drawn (SVG 2 §9.3-9.7). */
export function pathOf(shape: string, attributes: string): string {
  const given = new Map([...attributes.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name, value]) => [name!, value!]))
  const number = (name: string): number => Number(given.get(name) ?? 0)
  const oval = (rx: number, ry: number): string => {
    return `M${number('cx') - rx} ${number('cy')}a${rx} ${ry} 0 1 0 ${2 * rx} 0a${rx} ${ry} 0 1 0 ${-2 * rx} 0z`
  }
  switch (shape) {
    // A path that begins with a relative move begins at the origin, even after another one.
    case 'path': return given.get('d')!.replace(/^m/, 'M0 0m')
    // A filled circle is a dot here, smaller than the line is wide: another dot fills what the line leaves open.
    case 'circle': return oval(number('r'), number('r')) + (given.has('fill') ? `M${number('cx')} ${number('cy')}h.01` : '')
    case 'ellipse': return oval(number('rx'), number('ry'))
    case 'line': return `M${number('x1')} ${number('y1')}L${number('x2')} ${number('y2')}`
    case 'polyline': return `M${given.get('points')}`
    case 'rect': {
      const [x, y, width, height, r] = [number('x'), number('y'), number('width'), number('height'), number('rx')]
      const corner = (dx: number, dy: number): string => `a${r} ${r} 0 0 1 ${dx} ${dy}`
      return `M${x + r} ${y}h${width - 2 * r}${corner(r, r)}v${height - 2 * r}${corner(-r, r)}h${2 * r - width}${corner(-r, -r)}v${2 * r - height}${corner(r, -r)}z`
    }
  }
  throw new Error(`icons cannot draw <${shape}${attributes}>`)
}

export function icons(): Plugin {
  return {
    name: 'icons',
    resolveId: (id) => id === module ? '\0' + module : undefined,
    load(id) {
      if (id !== '\0' + module) return
      return `export default ${JSON.stringify(Object.fromEntries(names.map((name) => [name, draw(name)])))}`
    },
  }
}
