// Draws the icons that src/kit/icons.ts names into one file of symbols, taken from Lucide (ISC).
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'
import { icons } from '../src/kit/icons.ts'

const module = 'virtual:sprite'

function draw(): string {
  const symbols = icons.map((name) => {
    const file = fileURLToPath(new URL(`../node_modules/lucide-static/icons/${name}.svg`, import.meta.url))
    const shapes = readFileSync(file, 'utf8').replace(/^[^]*?<svg[^>]*>/, '').replace('</svg>', '').replace(/\s*\n\s*/g, '')
    return `<symbol id="${name}" viewBox="0 0 24 24">${shapes}</symbol>`
  })
  return `<!-- Lucide, ISC licence, https://lucide.dev/license --><svg xmlns="http://www.w3.org/2000/svg">${symbols.join('')}</svg>\n`
}

export function sprite(): Plugin {
  let serving = false
  return {
    name: 'sprite',
    configResolved(config) { serving = config.command === 'serve' },
    resolveId: (id) => id === module ? '\0' + module : undefined,
    load(id) {
      if (id !== '\0' + module) return
      if (serving) return `export default '/admin/icons.svg'`
      const file = this.emitFile({ type: 'asset', name: 'icons.svg', source: draw() })
      return `export default import.meta.ROLLUP_FILE_URL_${file}`
    },
    configureServer(server) {
      server.middlewares.use('/admin/icons.svg', (_, answer) => {
        answer.setHeader('Content-Type', 'image/svg+xml')
        answer.end(draw())
      })
    },
  }
}
