// How users are told of.
import type { UserBody } from '../../generated/admin.ts'
import { toMinute } from '../../kit/format.ts'

/** A time of the server in the words of the browser's language. */
export function when(time: string | null | undefined, otherwise = 'never'): string {
  return time ? toMinute(time) : otherwise
}

/** What a user is called: the address, the number, or the id of somebody who has neither. */
export function nameOf(user: Pick<UserBody, 'id' | 'email' | 'phone'>): string {
  return user.email || (user.phone ? `+${user.phone}` : user.id)
}

/** How long a ban lasts, in the words of the API. */
export const bans = [
  { value: '1h', label: '1 hour' }, { value: '24h', label: '1 day' }, { value: '168h', label: '7 days' }, { value: '720h', label: '30 days' },
  { value: '876000h', label: '100 years' },
] as const
