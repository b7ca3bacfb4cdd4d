// Gives the shapes of the icons that src/kit/icons.ts names, taken from Lucide (ISC).
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'
import { icons as names } from '../src/kit/icons.ts'

const module = 'virtual:icons'

function shapes(name: string): string {
  const file = fileURLToPath(new URL(`../node_modules/lucide-static/icons/${name}.svg`, import.meta.url))
  return readFileSync(file, 'utf8').replace(/^[^]*?<svg[^>]*>/, '').replace('</svg>', '').replace(/\s*\n\s*/g, '')
}

export function icons(): Plugin {
  return {
    name: 'icons',
    resolveId: (id) => id === module ? '\0' + module : undefined,
    load(id) {
      if (id !== '\0' + module) return
      return `export default ${JSON.stringify(Object.fromEntries(names.map((name) => [name, shapes(name)])))}`
    },
  }
}
