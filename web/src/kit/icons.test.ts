import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pathOf } from '../../build/icons.ts'

test('each shape of an icon is the same line as one path', () => {
  for (const [shape, attributes, path] of [
    ['path', ' d="M7 7h10v10" /', 'M7 7h10v10'],
    ['path', ' d="m6 9 6 6 6-6" /', 'M0 0m6 9 6 6 6-6'],
    ['circle', ' cx="12" cy="12" r="3" /', 'M9 12a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z'],
    ['circle', ' cx="7.5" cy="7.5" r=".5" fill="currentColor" /', 'M7 7.5a0.5 0.5 0 1 0 1 0a0.5 0.5 0 1 0 -1 0zM7.5 7.5h.01'],
    ['ellipse', ' cx="12" cy="5" rx="9" ry="3" /', 'M3 5a9 3 0 1 0 18 0a9 3 0 1 0 -18 0z'],
    ['line', ' x1="12" x2="12" y1="8" y2="16" /', 'M12 8L12 16'],
    ['polyline', ' points="22 12 16 12 14 15" /', 'M22 12 16 12 14 15'],
    ['rect', ' width="20" height="5" x="2" y="3" rx="1" /', 'M3 3h18a1 1 0 0 1 1 1v3a1 1 0 0 1 -1 1h-18a1 1 0 0 1 -1 -1v-3a1 1 0 0 1 1 -1z'],
  ] as const) {
    assert.equal(pathOf(shape, attributes), path)
  }
  assert.throws(() => pathOf('text', ''), /cannot draw <text>/)
})
