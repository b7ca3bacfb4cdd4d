import './styles/base.css'
import { mount } from 'svelte'
import './app/theme.svelte.ts' // first: the page is painted in its scheme from the beginning
import App from './App.svelte'
import { listen } from './app/shortcuts.svelte.ts'

listen()
mount(App, { target: document.getElementById('app')! })
