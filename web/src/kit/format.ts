// Numbers, sizes and times as people read them.

const whole = new Intl.NumberFormat('en-US')
const rounded = new Map<number, Intl.NumberFormat>()

/** 1234567 as 1,234,567. */
export function count(n: number): string { return whole.format(n) }

function digits(n: number, most: number): string {
  let format = rounded.get(most)
  if (!format) rounded.set(most, format = new Intl.NumberFormat('en-US', { maximumFractionDigits: most }))
  return format.format(n)
}

/** A size in units of 1024. */
export function bytes(n: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']
  let at = 0
  while (Math.abs(n) >= 1024 && at < units.length - 1) {
    n /= 1024
    at++
  }
  return `${digits(n, at === 0 || n >= 100 ? 0 : n >= 10 ? 1 : 2)} ${units[at]}`
}

/** Milliseconds in the unit that suits them. */
export function duration(ms: number): string {
  if (ms < 1) return `${digits(ms, 2)} ms`
  if (ms < 1000) return `${digits(ms, ms < 10 ? 2 : ms < 100 ? 1 : 0)} ms`
  if (ms < 60_000) return `${digits(ms / 1000, ms < 10_000 ? 2 : 1)} s`
  const seconds = Math.floor(ms / 1000)
  const parts = [[Math.floor(seconds / 86400), 'd'], [Math.floor(seconds / 3600) % 24, 'h'], [Math.floor(seconds / 60) % 60, 'min'], [seconds % 60, 's']] as const
  const first = parts.findIndex(([n]) => n > 0)
  return parts.slice(first, first + 2).filter(([n]) => n > 0).map(([n, unit]) => `${n} ${unit}`).join(' ')
}

/** A share of 1. */
export function percent(share: number): string {
  const text = digits(share * 100, share > 0.99 && share < 1 ? 2 : share < 0.1 ? 2 : 1)
  return `${text} %`
}

/** A rate with as many digits as it deserves. */
export function rate(n: number): string { return digits(n, n < 10 ? 2 : n < 100 ? 1 : 0) }

const clocks = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false })
const minutes = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium', hour12: false })

const days = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })

/** The day of the year. */
export function day(at: string | number | Date): string { return days.format(new Date(at)) }

/** The time of day. */
export function clock(at: string | number | Date): string { return clocks.format(new Date(at)) }

/** Date and time of day. */
export function moment(at: string | number | Date): string { return dates.format(new Date(at)) }

/** Date and time of day, to the minute. */
export function toMinute(at: string | number | Date): string { return minutes.format(new Date(at)) }
