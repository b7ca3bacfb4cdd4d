const whole = new Intl.NumberFormat('en')
const short = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

/** A duration of milliseconds as it is read: 0.42 ms, 31 ms, 4.2 s, 2 min 5 s. */
export function duration(ms: number): string {
  if (ms < 10) return `${ms.toFixed(2)} ms`
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round(ms % 60_000 / 1000)} s`
}

export function amount(n: number): string {
  return whole.format(Math.round(n))
}

export function rowsWord(n: number): string {
  return n === 1 ? '1 row' : `${whole.format(n)} rows`
}

/** A factor such as 12 or 3.4. */
export function factor(n: number): string {
  return n >= 100 ? whole.format(Math.round(n)) : short.format(n)
}

/** Pages of 8 KiB in words. */
export function pages(n: number): string {
  const kib = n * 8
  return kib < 1024 ? `${kib} KiB` : kib < 1024 * 1024 ? `${short.format(kib / 1024)} MiB` : `${short.format(kib / 1024 / 1024)} GiB`
}
