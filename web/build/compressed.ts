// Stores the built files compressed, in place of their text: the server sends them as they are.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { Plugin } from 'vite'

const text = /\.(js|css|html|svg|json|txt)$/

export function compressed(): Plugin {
  let folder = ''
  return {
    name: 'compressed',
    apply: 'build',
    configResolved(config) { folder = config.build.outDir },
    writeBundle: {
      order: 'post',
      sequential: true,
      handler(options) {
        const root = options.dir ?? folder
        for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
          if (!text.test(name)) continue
          const file = join(root, name)
          const content = readFileSync(file)
          writeFileSync(file + '.gz', gzipSync(content, { level: 9 }))
          writeFileSync(file + '.br', brotliCompressSync(content, {
            params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length, [constants.BROTLI_PARAM_QUALITY]: 11 },
          }))
          rmSync(file)
        }
      },
    },
  }
}
