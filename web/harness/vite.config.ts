// Builds the page on which the grid is tested alone. It is no part of the dashboard.
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'
import { icons } from '../build/icons.ts'

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [svelte({ configFile: '../svelte.config.js' }), icons()],
  build: {
    target: 'es2024',
    outDir: process.env.BASALT_HARNESS ?? '../node_modules/.harness',
    emptyOutDir: true,
    reportCompressedSize: false,
  },
})
