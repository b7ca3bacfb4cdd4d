// Mail templates: read, changed beside their preview, refused with the line, used by the next mail, taken back.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { expectNoAxeViolations, expectNoSidewaysScroll, expecting, owner, start } from './world.mjs'

const hostile = `<script>parent.hit = 1</script><img src=x onerror="parent.hit = 1"><svg onload="parent.hit = 1"></svg>`

let world
before(async () => { world = await start({ flags: ['--autoconfirm', 'false'] }) })
after(() => world?.stop())

const frame = (page) => page.frameLocator('iframe[title="The mail as it is read"]')

test('a mail is written anew, and the next one has the new words', { timeout: 120_000 }, async () => {
  const page = await world.open('/settings')
  await page.getByRole('link', { name: 'Mail templates' }).click()
  await page.waitForURL(/\/settings\/mail$/)
  await page.getByRole('combobox', { name: 'Language' }).selectOption('de')
  await page.getByRole('cell', { name: 'Setzen Sie Ihr Passwort zurück' }).or(page.getByRole('cell', { name: /Passwort/ })).first().waitFor()
  await page.getByRole('combobox', { name: 'Language' }).selectOption('en')
  await page.getByRole('link', { name: 'Confirm an address' }).click()
  await page.waitForURL(/\/settings\/mail\/en\/confirmation$/)
  await frame(page).getByRole('link', { name: 'Confirm email address' }).waitFor()
  await frame(page).getByText('123456').waitFor()

  const html = page.getByRole('textbox', { name: 'HTML of the mail' })
  await html.fill('<p>Welcome aboard</p>\n<p>{{ .Tokn }}</p>')
  await page.locator('form').getByText(/Line 2: .*Tokn/).waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('textarea[aria-invalid=true]').waitFor()
  await expectNoAxeViolations(page)
  await html.fill('<p>Welcome aboard</p>')
  await html.press('End')
  await page.getByRole('button', { name: '{{ .ConfirmationURL }}' }).click()
  assert.equal(await html.inputValue(), '<p>Welcome aboard</p>{{ .ConfirmationURL }}')
  await page.getByRole('textbox', { name: 'Subject' }).fill('Ahoy {{ .Email }}')
  await frame(page).getByText('Welcome aboard').waitFor()
  await page.getByText('Ahoy ada@example.com').waitFor()
  await page.getByRole('tab', { name: 'Text' }).click()
  await page.getByRole('textbox', { name: 'Text of the mail' }).fill('Welcome aboard: {{ .Token }}')
  await page.getByRole('link', { name: 'Mail templates' }).first().click() // what is not saved is not lost without a word
  await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved: the next mail is written by it').waitFor()
  await page.getByText('written here', { exact: true }).waitFor()
  await page.reload()
  assert.equal(await page.getByRole('textbox', { name: 'Text of the mail' }).inputValue(), 'Welcome aboard: {{ .Token }}')

  const signed = await fetch(`${world.url}/auth/v1/signup`, { method: 'POST', headers: { apikey: world.keys.ANON_KEY, 'Content-Type': 'application/json' }, body: JSON.stringify({ email: 'grace@example.com', password: 'correct horse battery' }) })
  assert.equal(signed.status, 200, await signed.text())
  await page.goto(new URL('/admin/outbox', world.url).href)
  await page.getByRole('link', { name: 'grace@example.com' }).click()
  const message = page.getByRole('dialog', { name: 'Ahoy grace@example.com' })
  await message.waitFor()
  await frame(page).getByText('Welcome aboard').waitFor()
  await message.getByRole('tab', { name: 'Text' }).click()
  await message.getByText(/Welcome aboard: \d{6}/).waitFor()
  await world.close(page)
})

test('a test mail goes to the administrator, and the built-in text is taken back', { timeout: 90_000 }, async () => {
  const page = await world.open('/settings/mail/en/confirmation')
  await page.getByRole('button', { name: 'Send me a test mail' }).click()
  await page.getByRole('button', { name: 'Open the outbox' }).click()
  await page.getByRole('link', { name: owner.email }).click()
  await page.getByRole('dialog', { name: `Ahoy ${owner.email}` }).waitFor()
  await page.goto(new URL('/admin/settings/mail/en/confirmation', world.url).href)
  await page.getByRole('button', { name: 'Back to the built-in one' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Go back' }).click()
  await page.getByText('built in', { exact: true }).waitFor()
  await frame(page).getByRole('link', { name: 'Confirm email address' }).waitFor()
  assert.equal(await page.getByRole('textbox', { name: 'Subject' }).inputValue(), 'Confirm your email address')
  await world.close(page)
})

test('what somebody else has saved meanwhile is not overwritten', { timeout: 60_000 }, async () => {
  const page = await world.open('/settings/mail/en/invite')
  await page.getByRole('textbox', { name: 'Subject' }).fill('Mine')
  await world.sql(`insert into basalt.mail_templates (language, name, subject, html, text) values ('en', 'invite', 'Theirs', 'x', 'x')`)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Somebody else has changed this template meanwhile').waitFor()
  assert.equal(await page.getByRole('textbox', { name: 'Subject' }).inputValue(), 'Mine')
  await page.getByRole('button', { name: 'Discard' }).click()
  await world.close(page)
})

test('the HTML of a mail does nothing in the preview', { timeout: 60_000 }, async () => {
  const page = await world.open('/settings/mail/en/recovery')
  expecting(page, /sandbox|Content Security Policy/) // the frame says what it has not run
  await page.getByRole('textbox', { name: 'HTML of the mail' }).fill(`<p>Look at this</p>${hostile}`)
  await page.getByRole('textbox', { name: 'Subject' }).fill(hostile)
  await frame(page).getByText('Look at this').waitFor()
  await page.getByText('<script>parent.hit = 1</script>').first().waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved: the next mail is written by it').waitFor()
  await page.getByRole('link', { name: 'Mail templates' }).first().click()
  await page.getByText('onerror').first().waitFor()
  assert.equal(await page.evaluate(() => globalThis.hit), undefined)
  assert.equal(await page.locator('main img, main svg[onload]').count(), 0)
  await world.close(page)
})

test('a mail fits a narrow window', { timeout: 60_000 }, async () => {
  const page = await world.open('/settings/mail/de/magic_link', { width: 360, scheme: 'dark' })
  await frame(page).getByText('123456').waitFor()
  await expectNoAxeViolations(page)
  await expectNoSidewaysScroll(page)
  await world.close(page)
})
