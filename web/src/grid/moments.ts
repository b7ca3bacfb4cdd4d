/** Dates and times in PostgreSQL's ISO text, taken apart so that a picker changes its part and nothing else. */

interface Moment {
  /** `2026-03-01`, or empty for a time alone. */
  date: string
  /** `12:30:00.123456`, or empty for a date alone. */
  time: string
  /** `+02`, `Z`, ` Europe/Berlin`, ` BC`: whatever follows, exactly as it was written. */
  rest: string
}

/** Null for what pickers cannot show: infinity, years beyond four digits, other date styles. */
export function takeApart(text: string): Moment | null {
  const m = /^\s*(\d{4}-\d\d-\d\d)?(?:(?:^|[T ])(\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?))?(.*)$/s.exec(text)
  if (!m || (!m[1] && !m[2])) return null
  const rest = m[3] ?? ''
  if (!/^\s*(Z|[-+]\d\d(:?\d\d){0,2}|[A-Za-z_/+-]+\d*)?\s*$/.test(rest) || /BC/i.test(rest)) return null
  return { date: m[1] ?? '', time: m[2] ?? '', rest }
}

/** The text of its parts. Fractions of a second that a picker dropped (it shows the same second) come back. */
export function putTogether(moment: Moment, before: Moment | null): string {
  let time = moment.time
  if (before && time !== '' && before.time.startsWith(time) && /^(:00)?\.\d+$|^:00$/.test(before.time.slice(time.length))) {
    time = before.time
  }
  return [moment.date, time].filter((part) => part !== '').join(' ') + moment.rest
}
