// How long a statement may take, from the size of its table. Rough on purpose: it tells a moment from an hour.
import type { Work } from './plan.ts'

/** The size of a table, as PostgreSQL last measured it. */
export interface Size { rows: number | null, bytes: number, indexBytes: number }

// What a common machine with data on an SSD does in a second.
const scanned = 300e6 // bytes
const written = 60e6
const indexed = 400e3 // rows

/** Seconds that the work lasts while its lock is held; null when the size is not known. */
export function seconds(work: Work, size: Size | undefined): number | null {
  if (work === 'none') return 0
  if (!size) return null
  const unknown = size.rows === null && size.bytes === 0
  if (unknown) return null
  switch (work) {
    case 'scan': return size.bytes / scanned
    case 'rewrite': return size.bytes / scanned + size.bytes / written + size.indexBytes / written
    case 'index': return size.bytes / scanned + (size.rows ?? 0) / indexed
  }
}

/** A duration as one would say it. */
export function said(duration: number | null): string {
  if (duration === null) return 'not known: the table was never analyzed'
  if (duration < 0.2) return 'a moment'
  if (duration < 1.5) return 'about a second'
  if (duration < 90) return `about ${Math.round(duration)} seconds`
  if (duration < 5400) return `about ${Math.round(duration / 60)} minutes`
  return `about ${Math.round(duration / 3600)} hours`
}

/** Rows as one would say them: exact when few. */
export function rows(count: number | null): string {
  if (count === null) return 'an unknown number of rows'
  if (count === 1) return '1 row'
  if (count < 1000) return `${count} rows`
  return `~${new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }).format(count)} rows`
}

/** Bytes with a unit of 1024. */
export function bytes(count: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let at = 0
  let value = count
  for (; value >= 1024 && at < units.length - 1; at++) value /= 1024
  return `${at > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[at]}`
}
