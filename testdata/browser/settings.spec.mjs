// Settings: where values come from, storing one for the next start, refusals at the field, a test mail, signing keys, about.
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { expectNoAxeViolations, expectNoSidewaysScroll, owner, start } from './world.mjs'

const secret = 'a secret of thirty-two bytes or more'
let world
before(async () => { world = await start({ flags: ['--max-rows', '500', '--jwt-secret', secret, '--app-settings', `greeting=${secret}`, '--webauthn-rp-name', "it's me"] }) })
after(() => world?.stop())

test('a setting is stored for the next start, and one that is given otherwise is only shown', { timeout: 90_000 }, async () => {
  const page = await world.open('/settings')
  await page.getByRole('link', { name: 'REST API' }).click()
  await page.waitForURL(/\/settings\/rest-api$/)
  const given = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Most rows of a read', exact: true }) })
  await given.getByText('500').waitFor()
  await given.getByText('by a flag').waitFor()
  await given.getByText('--max-rows', { exact: true }).first().waitFor()
  await given.getByText('BASALT_MAX_ROWS', { exact: true }).waitFor()
  assert.equal(await given.getByRole('textbox').count(), 0)

  await page.getByRole('textbox', { name: 'End of transactions' }).fill('sometimes')
  await page.getByRole('combobox', { name: 'Aggregate functions' }).selectOption('on')
  await page.getByText('2 changes not saved').waitFor()
  await page.getByRole('link', { name: 'Database' }).click() // what is not saved is not lost without a word
  await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('input[aria-invalid=true]').waitFor()
  await page.getByText(/none of commit/).waitFor()
  await page.getByRole('textbox', { name: 'End of transactions' }).fill('commit-allow-override')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('2 settings count from the next start on').waitFor()
  // How to restart: the process that listens, and the flags it was given, without secrets.
  const [kill, serve] = (await page.getByRole('region', { name: 'How to restart the server' }).innerText()).trim().split('\n')
  assert.equal(kill, `kill -TERM ${world.pid}`)
  assert.match(serve, /basalt serve .*--max-rows=500/)
  assert.ok(serve.includes(`--webauthn-rp-name='it'\\''s me'`) && serve.includes('--jwt-secret …') && serve.includes('--app-settings …'), serve)
  assert.ok(!(await page.content()).includes(secret))
  await expectNoAxeViolations(page)
  const phone = await world.open('/settings/rest-api', { width: 360 })
  await phone.getByRole('region', { name: 'How to restart the server' }).waitFor()
  await expectNoSidewaysScroll(phone)
  await world.close(phone)
  await page.reload()
  await page.getByText('2 settings count from the next start on').waitFor()
  assert.equal(await page.getByRole('textbox', { name: 'End of transactions' }).inputValue(), 'commit-allow-override')
  await page.getByRole('button', { name: 'Back to commit' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('One setting counts from the next start on').waitFor()
  await world.close(page)
})

test('a mail server is set by its parts, counts at once, and its password is never shown again', { timeout: 60_000 }, async () => {
  const password = 'correct-horse-battery'
  const page = await world.open('/outbox')
  await page.getByRole('link', { name: 'the mail server' }).click()
  await page.waitForURL(/\/settings\/mail-and-text-messages\?setting=smtp-url$/)
  const row = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Mail server', exact: true }) })
  const field = (label) => row.getByLabel(new RegExp(`^${label}`))
  const values = () => Promise.all(['Host', 'Port', 'Encryption', 'User', 'Password'].map((label) => field(label).inputValue()))
  assert.equal(await field('Password').getAttribute('type'), 'password')
  await field('Host').fill('https://mail.example.com')
  await row.getByText('Only the name, such as smtp.example.com').waitFor()
  await field('Host').fill(`smtp://ada:${password}@mail.example.com`) // as services write it
  assert.deepEqual(await values(), ['mail.example.com', '587', 'starttls', 'ada', password])
  await field('Encryption').selectOption('tls')
  assert.equal(await field('Port').inputValue(), '465')
  await page.getByRole('button', { name: 'Save' }).click() // without a sender
  await page.getByText('Sender address is in the way').waitFor()
  await page.getByLabel('Sender address', { exact: true }).fill('no-reply@example.com')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved: it counts now').waitFor()
  await page.reload()
  await row.getByText('set here').waitFor()
  assert.equal(await row.getByText('next start').count(), 0)
  assert.deepEqual(await values(), ['mail.example.com', '465', 'tls', 'ada', ''])
  assert.equal(await field('Password').getAttribute('placeholder'), 'kept sealed, never shown')
  assert.ok(!(await page.content()).includes(password))

  await field('Host').fill('mail.example.org')
  await row.getByText('Enter it again').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0)
  await expectNoAxeViolations(page)
  await field('Password').fill('another')
  await page.getByText('One change not saved').waitFor()
  await page.getByRole('button', { name: 'Discard' }).click()
  assert.deepEqual(await values(), ['mail.example.com', '465', 'tls', 'ada', ''])

  await row.getByRole('button', { name: 'Remove it' }).click()
  await page.getByLabel('Sender address', { exact: true }).fill('')
  await page.getByRole('button', { name: 'Save' }).click()
  await row.getByText('default').waitFor()
  assert.deepEqual(await values(), ['', '587', 'starttls', '', ''])
  await world.close(page)
})

/** A mail server that takes all mails but those to nobody@example.com, and keeps to whom they went. */
async function mailServer() {
  const taken = []
  const server = createServer((socket) => {
    const say = (line) => socket.write(`${line}\r\n`)
    let data = false
    let to
    socket.on('error', () => {}) // the other side may go as it likes
    say('220 mail.example')
    createInterface({ input: socket }).on('line', (line) => {
      if (data) {
        if (line !== '.') return
        data = false
        taken.push(to)
        return say('250 taken')
      }
      if (/^RCPT TO:<nobody@example.com>/i.test(line)) return say('550 5.1.1 no such mailbox')
      to = /^RCPT TO:<(.*)>/i.exec(line)?.[1] ?? to
      if (/^DATA/i.test(line)) { data = true; return say('354 go on') }
      if (/^QUIT/i.test(line)) { say('221 bye'); return socket.end() }
      say('250 mail.example')
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `smtp://127.0.0.1:${server.address().port}?tls=none`, taken, stop: () => server.close() }
}

test('a mail server is tried with what is not saved yet, and its reason is told', { timeout: 60_000 }, async () => {
  const server = await mailServer()
  try {
    const page = await world.open('/settings/mail-and-text-messages')
    const trial = page.getByRole('form', { name: 'Test mail' })
    const send = trial.getByRole('button', { name: 'Send a test mail' })
    await send.click()
    await trial.getByText('there is no mail server to try').waitFor()
    await page.getByRole('group', { name: 'Mail server' }).getByLabel('Host').fill(server.url)
    await page.getByLabel('Sender address', { exact: true }).fill('no-reply@example.com')
    await trial.getByText('there is no mail server to try').waitFor({ state: 'detached' }) // it was about other settings
    await send.click()
    await trial.getByText('The mail server has taken it').waitFor()
    await trial.getByText(owner.email).waitFor()
    await trial.getByLabel('Send a test mail to').fill('nobody@example.com')
    await send.click()
    await trial.getByText('no such mailbox').waitFor()
    assert.deepEqual(server.taken, [owner.email])
    await page.getByText('2 changes not saved').waitFor()
    await expectNoAxeViolations(page)
    await page.setViewportSize({ width: 360, height: 800 })
    await page.waitForFunction(() => document.documentElement.scrollWidth <= innerWidth) // the bar settles a frame later
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.getByRole('button', { name: 'Discard' }).click()
    await world.close(page)
  } finally {
    server.stop()
  }
})

test('the palette leads to a setting by its name, by what it is for and by what it is called', { timeout: 60_000 }, async () => {
  const page = await world.open('/users')
  const visible = (name) => page.waitForFunction((of) => {
    const box = [...document.querySelectorAll('main li[aria-current=true]')].find((row) => row.querySelector('h3')?.textContent === of)?.getBoundingClientRect()
    return box && box.top >= 0 && box.bottom <= innerHeight
  }, name)
  await page.keyboard.press('Control+k')
  await page.keyboard.type('rest-tx-end')
  await page.getByRole('option', { name: /End of transactions/ }).first().click()
  await page.waitForURL(/\/settings\/rest-api\?setting=rest-tx-end$/)
  await visible('End of transactions')
  // From one setting to another while the screen is open, found by its variable.
  await page.keyboard.press('Control+k')
  await page.keyboard.type('BASALT_MAX_ROWS')
  await page.getByRole('option', { name: /Most rows of a read/ }).first().click()
  await visible('Most rows of a read')
  // And by what it is called.
  await page.keyboard.press('Control+k')
  await page.keyboard.type('largest request body')
  await page.getByRole('option', { name: /Largest request body/ }).first().click()
  await page.waitForURL(/\/settings\/server\?setting=body-limit$/)
  await visible('Largest request body')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('signing keys')
  await page.getByRole('option', { name: /Signing keys/ }).first().click()
  await page.waitForURL(/\/settings\/signing-keys$/)
  await world.close(page)
})

test('a search finds settings of all sections, and its address keeps it', { timeout: 90_000 }, async () => {
  const page = await world.open('/settings/rest-api')
  const field = page.getByRole('searchbox', { name: 'Find a setting' })
  await page.getByRole('textbox', { name: 'End of transactions' }).fill('rollback')
  await page.getByText('One change not saved').waitFor()
  await page.getByRole('heading', { name: 'REST API' }).click() // out of the field
  await page.keyboard.press('/')
  await page.keyboard.type('Retention')
  await page.waitForURL(/\/settings\/rest-api\?q=Retention$/)
  for (const name of ['REST API', 'Audit log', 'Server']) await page.getByRole('heading', { name, exact: true, level: 3 }).waitFor()
  await page.getByRole('link', { name: 'Administrator audit log: retention' }).waitFor()
  await page.getByText('4 settings found').waitFor({ state: 'attached' })
  await expectNoAxeViolations(page)
  // By the flag, by the variable, by the help: words in any order, in any case.
  for (const [typed, title] of [['--max-rows', 'Most rows of a read'], ['BASALT_SMTP_URL', 'Mail server'], ['smaller returns', 'Most rows of a read']]) {
    await field.fill(typed)
    await page.getByText('One setting found').waitFor({ state: 'attached' })
    await page.getByRole('link', { name: title }).waitFor()
  }
  await field.fill('no such setting')
  await page.getByRole('heading', { name: 'No setting is like “no such setting”' }).waitFor()
  await expectNoAxeViolations(page)
  await page.getByRole('button', { name: 'Clear the search' }).click()
  await page.waitForURL(/\/settings\/rest-api$/)
  assert.ok(await field.evaluate((node) => node === document.activeElement))
  // What was changed before the search is still there.
  assert.equal(await page.getByRole('textbox', { name: 'End of transactions' }).inputValue(), 'rollback')
  await field.fill('end of transactions')
  await page.getByRole('link', { name: 'End of transactions' }).click() // in the section that is open: nothing is left
  await page.waitForURL(/\/settings\/rest-api\?setting=rest-tx-end$/)
  await page.waitForFunction(() => document.activeElement?.querySelector('h3')?.textContent === 'End of transactions')
  assert.equal(await field.inputValue(), '')
  assert.equal(await page.getByRole('textbox', { name: 'End of transactions' }).inputValue(), 'rollback')
  await page.getByRole('button', { name: 'Discard' }).click()

  await field.fill('body-limit')
  await page.getByRole('link', { name: 'Largest request body' }).click()
  await page.waitForURL(/\/settings\/server\?setting=body-limit$/)
  await page.waitForFunction(() => document.activeElement?.querySelector('h3')?.textContent === 'Largest request body')
  await page.goBack()
  await page.getByRole('link', { name: 'Largest request body' }).waitFor()
  await page.reload()
  await page.getByRole('link', { name: 'Largest request body' }).waitFor()
  assert.equal(await field.inputValue(), 'body-limit')
  await world.close(page)
  const phone = await world.open('/settings?q=audit', { width: 360 })
  await phone.getByRole('link', { name: 'Account audit log', exact: true }).waitFor()
  await expectNoSidewaysScroll(phone)
  await world.close(phone)
})

test('a standby key is added and revoked by typing its name', { timeout: 60_000 }, async () => {
  const page = await world.open('/settings/signing-keys')
  await page.getByRole('heading', { name: 'The JWT secret signs' }).waitFor()
  await page.getByRole('button', { name: 'Add a standby key' }).click()
  await page.getByRole('menuitem', { name: 'EdDSA' }).click()
  await page.getByRole('row', { name: /EdDSA standby/ }).waitFor()
  await page.getByRole('button', { name: 'Promote' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Promote' }).click()
  await page.getByText(/not been published for ten minutes/).waitFor()
  await page.getByRole('button', { name: 'Revoke' }).click()
  const dialog = page.getByRole('dialog', { name: 'Revoke this key?' })
  const label = await dialog.locator('label').innerText()
  await dialog.getByRole('textbox').fill(/Type (\S+)/.exec(label)[1])
  await dialog.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('heading', { name: 'The JWT secret signs' }).waitFor()
  await world.close(page)
})

