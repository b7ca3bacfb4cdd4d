import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as drafting from './drafts.ts'
import type { Column } from './types.ts'

const id: Column = { name: 'id', type: 'int8', kind: 'integer', nullable: false, key: true }
const title: Column = { name: 'title', type: 'text', kind: 'text', nullable: true }
const columns = [id, title]
const edited = drafting.set(drafting.noDrafts, '7', ['7', 'old'], [[title, 1, 'new']])

test('a change names its key, what it sets and what was read', () => {
  const [draft] = drafting.all(edited)
  assert.deepEqual(drafting.toChange(columns, draft!), { op: 'update', key: { id: '7' }, set: { title: 'new' }, was: { title: 'old' } })
})

test('a cell set to what was read is no change', () => {
  assert.ok(drafting.isEmpty(drafting.set(edited, '7', ['7', 'old'], [[title, 1, 'old']])))
})

test('null and the empty string are different changes', () => {
  const nulled = drafting.set(drafting.noDrafts, '7', ['7', ''], [[title, 1, null]])
  assert.deepEqual(drafting.all(nulled)[0]?.set.get('title'), null)
})

test('an insertion sends only what was written', () => {
  const drafts = drafting.set(drafting.insert(drafting.noDrafts, 'insert 1', new Map()), 'insert 1', null, [[title, 1, 'x']])
  assert.deepEqual(drafting.toChange(columns, drafts.inserts[0]!), { op: 'insert', key: {}, set: { title: 'x' }, was: {} })
})

test('saved drafts go, and what was edited meanwhile stays', () => {
  const sent = drafting.all(edited)
  const saving = drafting.mark(edited, 'saving')
  assert.ok(drafting.isEmpty(drafting.settle(saving, sent, { status: 'saved', rows: [['7', 'new']] })))
  const newer = drafting.set(saving, '7', ['7', 'old'], [[title, 1, 'newer']])
  const left = drafting.all(drafting.settle(newer, sent, { status: 'saved', rows: [['7', 'new']] }))
  assert.deepEqual([left[0]?.was, left[0]?.set.get('title')], [['7', 'new'], 'newer'])
})

test('a refusal is kept at its cell until the cell changes', () => {
  const refused = drafting.settle(edited, drafting.all(edited), { status: 'refused', index: 0, column: 'title', reason: 'too long' })
  assert.deepEqual(drafting.find(refused, '7')?.refusal, { column: 'title', reason: 'too long' })
  assert.equal(drafting.find(drafting.set(refused, '7', null, [[title, 1, 'shorter']]), '7')?.state, 'edited')
})

test('a conflict ends with either change', () => {
  const conflict = drafting.settle(edited, drafting.all(edited), { status: 'conflict', conflicts: [{ index: 0, theirs: ['7', 'theirs'] }] })
  assert.equal(drafting.find(conflict, '7')?.state, 'conflict')
  const mine = drafting.find(drafting.resolve(conflict, '7', 'mine'), '7')
  assert.deepEqual(drafting.toChange(columns, mine!).was, { title: 'theirs' })
  assert.ok(drafting.isEmpty(drafting.resolve(conflict, '7', 'theirs')))
})
