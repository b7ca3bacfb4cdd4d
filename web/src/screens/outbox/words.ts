const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** A time of the server in the words of the browser's language. */
export function when(time: string): string {
  return format.format(new Date(time))
}

/** The colours of the states of messages. */
export const tones: Record<string, 'warn' | 'info' | 'bad'> = { held: 'warn', queued: 'info', failed: 'bad' }
