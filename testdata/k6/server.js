// The server under load and the account that loads it, as the environment names them.
import { check, fail } from 'k6'
import exec from 'k6/execution'
import { Counter } from 'k6/metrics'

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

// Those that arrive after the end of a scenario, asked for before it, are none of its throughput.
const inTime = new Counter('answers_in_time')

/** Checks an answer by its status and then by what it says; an answer that cannot be read says nothing. */
export function answered(response, name, status, what, says) {
  if (exec.scenario.progress < 1) inTime.add(1, { name })
  const right = check(response, { [`${name}: status ${status}`]: (r) => r.status === status })
  return check(response, {
    [`${name}: ${what}`]: (r) => {
      try {
        return right && says(r)
      } catch {
        return false
      }
    },
  })
}
