// The server under load and the account that loads it, as the environment names them.
import { check, fail } from 'k6'

function need(name) {
  return __ENV[name] || fail(`${name} is not set: API_URL, ANON_KEY and TOKEN say where to send requests, and as whom`)
}

export const url = need('API_URL').replace(/\/+$/, '')
export const token = need('TOKEN')
export const headers = { apikey: need('ANON_KEY'), Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }

/** A positive whole number from the environment. */
export function whole(name, otherwise) {
  const text = __ENV[name] || String(otherwise)
  return /^[1-9][0-9]*$/.test(text) ? Number(text) : fail(`${name} must be a positive whole number, not ${text}`)
}

/** Numbers of callers from the environment, as "5,50" or, for the whole sweep, "all". */
export function callers(otherwise) {
  const text = __ENV.CALLERS === 'all' ? '1,5,10,20,50,100,200,500,1000' : __ENV.CALLERS || otherwise
  return /^[1-9][0-9]*(,[1-9][0-9]*)*$/.test(text) ? text.split(',').map(Number) : fail(`CALLERS must be numbers such as 5,50, not ${text}`)
}

/** The parameters of a request whose figures stand under a name, whatever its address. */
export function named(name, more) {
  return { headers: Object.assign({}, headers, more), tags: { name } }
}

/** Checks an answer by its status and then by what it says; an answer that cannot be read says nothing. */
export function answered(response, status, what, says) {
  const right = check(response, { [`${what}: status ${status}`]: (r) => r.status === status })
  return check(response, {
    [what]: (r) => {
      try {
        return right && says(r)
      } catch {
        return false
      }
    },
  })
}
