// Types of a fixed list of words.
import { comment, free, nothing, together, type Plan } from './plan.ts'
import { ident, literal, qualified, type Name } from './quote.ts'

export function createEnum(name: Name, values: readonly string[], about: string): Plan {
  return {
    statements: [
      free(`create type ${qualified(name)} as enum (${values.map(literal).join(', ')})`),
      ...about ? [comment('type', qualified(name), about)] : [],
    ],
  }
}

/** What becomes of a value: `was` is "" for a new one. */
export interface EnumValue { was: string, now: string }

/** Renames and adds values, in their order. Values cannot be removed. */
export function alterEnum(was: Name, name: string, values: readonly EnumValue[], about: { was: string, now: string }): Plan {
  const plans: Plan[] = []
  for (const value of values) {
    if (value.was && value.was !== value.now) {
      plans.push({
        statements: [free(`alter type ${qualified(was)}\nrename value ${literal(value.was)} to ${literal(value.now)}`, 'Rows hold the value by number: none is touched.')],
        warnings: [`Apps that send or expect “${value.was}” fail from then on.`],
      })
    }
  }
  values.forEach((value, i) => {
    if (value.was || !value.now) return
    const before = values[i - 1]
    const after = values.slice(i + 1).find((next) => next.was)
    const place = before ? ` after ${literal(before.now)}` : after ? ` before ${literal(after.now)}` : ''
    const last = !values.slice(i + 1).some((next) => next.was)
    plans.push({ statements: [free(`alter type ${qualified(was)}\nadd value ${literal(value.now)}${last ? '' : place}`, 'A value cannot be removed again, and can be used once the change is made.')] })
  })
  if (about.now !== about.was) plans.push({ statements: [comment('type', qualified(was), about.now)] })
  if (name !== was.name) plans.push({ statements: [free(`alter type ${qualified(was)}\nrename to ${ident(name)}`)] })
  return plans.length ? together(...plans) : nothing
}

export function dropEnum(name: Name, cascade: boolean): Plan {
  return {
    statements: [free(`drop type ${qualified(name)}${cascade ? ' cascade' : ''}`)],
    ...(cascade ? { warnings: ['With CASCADE the columns of this type are dropped, with their values.'] } : {}),
  }
}
