import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RungsBody } from '../../generated/admin.ts'
import { Anchors, rungsPatience } from './anchors.ts'

const settled = () => new Promise((done) => setImmediate(done))

function awaiting(): { anchors: Anchors; come: (rungs: RungsBody) => void; fail: () => void } {
  const anchors = new Anchors()
  let come!: (rungs: RungsBody) => void, fail!: () => void
  anchors.expect(new Promise((answer, refuse) => { come = answer; fail = () => refuse(new Error('gone')) }), 1_000_000)
  return { anchors, come, fail }
}

/** Whether an answer is there, without waiting for it. */
async function there(answer: Promise<unknown>): Promise<boolean> {
  let is = false
  void answer.then(() => { is = true })
  await settled()
  return is
}

test('rows are found from the nearest row known, or from the beginning', async () => {
  const anchors = new Anchors()
  assert.equal(await anchors.nearest(500, 600), undefined)
  anchors.remember(99, ['a'])
  anchors.remember(700, ['b'])
  assert.equal(await anchors.nearest(0, 50), undefined)
  assert.deepEqual(await anchors.nearest(100, 200), { row: 99, key: ['a'] })
  assert.deepEqual(await anchors.nearest(500, 600), { row: 700, key: ['b'] })
  assert.equal(await anchors.nearest(0, 1000), undefined, 'a row within is no help')
})

test('a jump far from all rows known waits for rungs that are on their way', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { anchors, come } = awaiting()
  const jump = anchors.nearest(900_000, 900_100)
  assert.equal(await there(jump), false)
  come({ step: 5000, keys: Array.from({ length: 200 }, (_, i) => [`key ${(i + 1) * 5000}`]) })
  assert.deepEqual(await jump, { row: 899_999, key: ['key 900000'] })
})

test('rows near to what is known do not wait', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { anchors } = awaiting()
  anchors.remember(899_000, ['a'])
  assert.deepEqual(await Promise.race([anchors.nearest(900_000, 900_100), settled()]), { row: 899_000, key: ['a'] })
  assert.equal(await there(anchors.nearest(20_000, 20_100)), true)
})

test('rungs that fail, or take too long, are not waited for', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const failing = awaiting()
  const jump = failing.anchors.nearest(900_000, 900_100)
  failing.fail()
  assert.equal(await jump, undefined)

  const slow = awaiting()
  const other = slow.anchors.nearest(900_000, 900_100)
  t.mock.timers.tick(rungsPatience)
  assert.equal(await other, undefined)
  assert.equal(await there(slow.anchors.nearest(800_000, 800_100)), true)
  slow.come({ step: 500_000, keys: [['late']] })
  await settled()
  assert.deepEqual(await slow.anchors.nearest(800_000, 800_100), { row: 499_999, key: ['late'] })
})
