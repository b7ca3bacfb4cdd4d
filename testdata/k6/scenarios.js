// A sweep: one k6 scenario after the other, and the table of their figures.

/**
 * The options of a sweep. Its points are {kind, callers}: kind is the exported function that a caller repeats. Errors
 * decide whether k6 ends with 0, times do not.
 */
export function sweep(points, seconds) {
  const options = {
    scenarios: {},
    thresholds: { checks: ['rate==1'], http_req_failed: ['rate==0'] },
    summaryTrendStats: ['med', 'p(95)', 'p(99)', 'max'],
    setupTimeout: '60s',
    teardownTimeout: '60s',
  }
  let at = 0
  for (const point of points) {
    options.scenarios[name(point)] = {
      executor: 'constant-vus',
      exec: point.kind,
      vus: point.callers,
      startTime: `${at}s`,
      duration: `${seconds}s`,
      gracefulStop: '30s',
    }
    show(options, tagOf(point))
    // The last answers of so many callers must not slow the first ones of the next.
    at += seconds + 1 + Math.floor(point.callers / 100)
  }
  return options
}

/** The tag that the requests of a point carry. */
export function tagOf(point) {
  return `scenario:${name(point)}`
}

/** Has the figures of a tag's requests kept apart: k6 does so for what has thresholds, even an empty list of them. */
export function show(options, tag) {
  for (const metric of ['http_req_duration', 'answers_in_time', 'http_req_failed']) options.thresholds[`${metric}{${tag}}`] = []
}

/** The summary: a line for each tag, then whatever was wrong. */
export function table(data, tags, seconds, ...notes) {
  const lines = [row('', 'answers/s', 'p50 ms', 'p95 ms', 'p99 ms', 'max ms', 'failed', 'p95 < 200 ms')]
  for (const tag of tags) {
    const values = (metric) => data.metrics[`${metric}{${tag}}`].values
    const { count } = values('answers_in_time')
    const took = values('http_req_duration')
    lines.push(row(tag.split(':')[1], (count / seconds).toFixed(0),
      ...['med', 'p(95)', 'p(99)', 'max'].map((stat) => took[stat].toFixed(2)),
      values('http_req_failed').passes, count > 0 && took['p(95)'] < 200 ? 'yes' : 'no'))
  }
  const { passes, fails } = data.metrics.checks.values
  lines.push('', `checks: ${passes} passed, ${fails} failed`, ...notes)
  for (const { name, fails } of checks(data.root_group)) if (fails > 0) lines.push(`failed ${fails} times: ${name}`)
  return { stdout: `\n${lines.join('\n')}\n\n` }
}

// The checks of a group and those below it: setup and teardown are groups.
function checks(group) {
  return group.checks.concat(...group.groups.map(checks))
}

function name({ kind, callers }) {
  return `${kind}_${callers}`
}

function row(first, ...rest) {
  return String(first).padEnd(16) + rest.map((cell) => String(cell).padStart(13)).join('')
}
