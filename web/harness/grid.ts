import { mount } from 'svelte'
import '../src/styles/base.css'
import Harness from './Harness.svelte'

mount(Harness, { target: document.getElementById('app')! })
