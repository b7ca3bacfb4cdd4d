// GET /auth/v1/user with one token that all callers share, at three tiers.
//
// CALLERS are the tiers, SECONDS how long each of them.
import encoding from 'k6/encoding'
import http from 'k6/http'
import { answered, callers, named, token, url, whole } from './server.js'
import { sweep, table, tagOf } from './scenarios.js'

const seconds = whole('SECONDS', 10)
const points = callers('10,50,200').map((n) => ({ kind: 'user', callers: n }))
const { sub } = JSON.parse(encoding.b64decode(token.split('.')[1], 'rawurl', 's'))

export const options = sweep(points, seconds)

export function handleSummary(data) {
  return table(data, points.map(tagOf), seconds)
}

export function user() {
  const answer = http.get(`${url}/auth/v1/user`, named('user'))
  answered(answer, 'user', 200, 'whom the token names', (r) => r.json('id') === sub && r.json('aud') === 'authenticated')
}
