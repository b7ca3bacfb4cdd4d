// Builds the page on which the grid is tested alone. It is no part of the dashboard.
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'
import { sprite } from '../build/sprite.ts'

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [svelte({ configFile: '../svelte.config.js' }), sprite()],
  build: {
    target: 'es2024',
    outDir: process.env.BASALT_HARNESS ?? '../node_modules/.harness',
    emptyOutDir: true,
    reportCompressedSize: false,
  },
})
