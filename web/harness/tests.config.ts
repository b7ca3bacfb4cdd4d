// Compiles the tests of what needs no browser (src/**/*.test.ts), for `node --test`.
import { readdirSync } from 'node:fs'
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [svelte()],
  build: {
    ssr: true,
    target: 'node20',
    outDir: 'node_modules/.tests',
    emptyOutDir: true,
    reportCompressedSize: false,
    rolldownOptions: {
      input: readdirSync('src', { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.test.ts'))
        .map((name) => `src/${name}`),
      output: { entryFileNames: '[name].mjs' },
    },
  },
})
