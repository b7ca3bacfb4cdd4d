import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'
import { compressed } from './build/compressed.ts'
import { icons } from './build/icons.ts'

export default defineConfig(({ command }) => ({
  base: '/admin/',
  plugins: [svelte(), icons(), compressed()],
  build: {
    target: 'es2024',
    emptyOutDir: true,
    assetsInlineLimit: 0, // the policy for content lets nothing be inline
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 600,
  },
  // Developing: the pages come from Vite, the API from a server that runs beside it.
  server: command === 'serve'
    ? { port: 5174, proxy: { '/admin/api': process.env.BASALT_URL ?? 'http://127.0.0.1:8000' } }
    : undefined,
}))
