import assert from 'node:assert/strict'
import { test } from 'node:test'
import { curve, extent, type Box } from './boxes.ts'
import { drawing, escaped } from './drawing.ts'
import { layout } from './layout.ts'

const box = (name: string): Box => ({ id: name, schema: 'public', name, lines: [{ name, type: 'text', key: false, points: false }], more: 0, width: 160, height: 60 })
const edge = (from: string, to: string) => ({ id: `${from} ${to}`, from, to, fromLine: 0, toLine: 0, label: `${from} → ${to}` })

test('no box lies on another, linked or alone', () => {
  const boxes = Array.from({ length: 200 }, (_, i) => box(`t${i}`))
  const edges = Array.from({ length: 120 }, (_, i) => edge(`t${i}`, `t${(i * 7) % 120}`))
  const places = layout(boxes, edges)
  assert.equal(places.size, 200)
  for (const a of boxes) {
    for (const b of boxes) {
      if (a.id >= b.id) continue
      const [p, q] = [places.get(a.id)!, places.get(b.id)!]
      assert.ok(p.x + a.width <= q.x || q.x + b.width <= p.x || p.y + a.height <= q.y || q.y + b.height <= p.y, `${a.id} lies on ${b.id}`)
    }
  }
  assert.ok(extent(boxes, places).width > 160)
})

test('a key of a table to itself is a curve too', () => {
  assert.match(curve(edge('a', 'a'), box('a'), { x: 0, y: 0 }, box('a'), { x: 0, y: 0 }), /^M160 40C192 40 192 40 160 40$/)
})

test('the file holds names as text only', () => {
  const name = '<svg onload="alert(1)">&\u0001'
  const text = drawing([box(name)], [], new Map([[name, { x: 0, y: 0 }]]))
  assert.ok(!text.includes('<svg onload') && text.includes('&lt;svg onload=&quot;alert(1)&quot;&gt;&amp;'))
  assert.equal(escaped("it's\u0000"), 'it&#39;s')
})
