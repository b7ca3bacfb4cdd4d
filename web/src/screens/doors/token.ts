import { router } from '../../app/router.svelte.ts'

/** Takes the token of a one-time link out of the address, so that it stays in no history. */
export function takeToken(): string {
  const token = new URLSearchParams(router.hash).get('token') ?? ''
  router.dropHash()
  return token
}
