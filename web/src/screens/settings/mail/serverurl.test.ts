import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MailServerBody } from '../../../generated/admin.ts'
import { compose, parse, typedOf } from './serverurl.ts'

const stored: MailServerBody = { host: 'mail.example', port: 587, security: 'starttls', user: 'ada', password: true }
const typed = { host: 'mail.example', port: '587', security: 'starttls', user: '', password: '' } as const

test('fields make the URL of a mail server', () => {
  for (const [change, url] of [
    [{}, 'smtp://mail.example:587'],
    [{ user: 'ada@example.com', password: "p:w/?#[]@!'()*%" }, 'smtp://ada%40example.com:p%3Aw%2F%3F%23%5B%5D%40%21%27%28%29%2A%25@mail.example:587'],
    [{ user: 'ada' }, 'smtp://ada@mail.example:587'],
    [{ security: 'tls', port: '465' }, 'smtps://mail.example:465'],
    [{ security: 'none', port: '1025', host: '127.0.0.1' }, 'smtp://127.0.0.1:1025?tls=none'],
    [{ host: '2001:db8::1' }, 'smtp://[2001:db8::1]:587'],
    [{ host: 'büro.example' }, 'smtp://büro.example:587'],
  ] as const) {
    assert.deepEqual(compose({ ...typed, ...change }, null), { url })
    if (!url.includes('ü')) assert.deepEqual(parse(url), { ...typed, ...change })
  }
})

test('what cannot be a mail server is told at its field', () => {
  for (const [change, field] of [
    [{ host: 'https://mail.example' }, 'host'],
    [{ host: 'mail.example/path' }, 'host'],
    [{ host: 'ada@mail.example' }, 'host'],
    [{ host: 'mail example' }, 'host'],
    [{ host: 'mail.example:25' }, 'host'],
    [{ host: '', user: 'ada' }, 'host'],
    [{ port: '' }, 'port'],
    [{ port: '0' }, 'port'],
    [{ port: '65536' }, 'port'],
    [{ port: '5e2' }, 'port'],
    [{ security: 'none', user: 'ada' }, 'user'],
    [{ password: 'secret' }, 'user'],
  ] as const) {
    const composed = compose({ ...typed, ...change }, null)
    assert.equal(typeof composed === 'object' && 'field' in composed ? composed.field : composed, field, JSON.stringify(change))
  }
})

test('a stored password stays with its server', () => {
  const kept = typedOf(stored)
  assert.equal(compose(kept, stored), 'unchanged')
  assert.equal(compose(typedOf(null), null), 'unchanged')
  for (const change of [{ host: 'other.example' }, { port: '2525' }, { security: 'tls' }, { user: 'bob' }] as const) {
    const composed = compose({ ...kept, ...change }, stored)
    assert.equal(typeof composed === 'object' && 'field' in composed && composed.field, 'password', JSON.stringify(change))
  }
  assert.deepEqual(compose({ ...kept, host: 'other.example', password: 'new' }, stored), { url: 'smtp://ada:new@other.example:587' })
  assert.deepEqual(compose({ ...kept, user: '' }, stored), { url: 'smtp://mail.example:587' }, 'nobody signs in any more')
  const token = { ...stored, user: '' }
  const composed = compose({ ...typedOf(token), host: 'other.example' }, token)
  assert.equal(typeof composed === 'object' && 'field' in composed && composed.field, 'password', 'the user was not told')
  const emptied = compose({ ...kept, host: '', user: '' }, stored)
  assert.equal(typeof emptied === 'object' && 'field' in emptied && emptied.field, 'host')
})

test('only the URL of a mail server is taken apart', () => {
  assert.equal(parse('mail.example'), undefined)
  assert.equal(parse('https://mail.example'), undefined)
  assert.deepEqual(parse('smtps://a%40b:c%zz@[::1]'), { host: '::1', port: '465', security: 'tls', user: 'a@b', password: 'c%zz' })
})
