// Administrators and their own factors: inviting by a link, roles, proving once more who one is, an authenticator app, deleting.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import { expectNoAxeViolations, owner, start } from './world.mjs'

let world
before(async () => { world = await start() })
after(() => world?.stop())

// The code of a secret at a time (RFC 6238, SHA-1, 30 s, six digits).
function totp(secret, at = Date.now()) {
  const bits = [...secret.replaceAll(/[\s=]/g, '')].map((c) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(c).toString(2).padStart(5, '0')).join('')
  const key = Buffer.from(bits.match(/.{8}/g).map((byte) => Number.parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(at / 30_000)))
  const mac = createHmac('sha1', key).update(counter).digest()
  return String((mac.readUInt32BE(mac[19] & 15) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

const elevationEnds = () => world.sql(`update basalt.administrator_sessions set elevated_until = now() - interval '1 second'`)

test('an owner invites somebody, who joins by the link that is shown once', { timeout: 120_000 }, async () => {
  const page = await world.open('/administrators')
  await elevationEnds()
  await page.getByRole('button', { name: 'Invite' }).click()
  const roles = page.getByRole('dialog', { name: 'Invite an administrator' }).getByRole('group', { name: 'Role' })
  for (const [role, may] of [['owner', 'Everything: also administrators'], ['editor', 'Runs SQL as the owner of the database, and so reaches everything in it.'], ['viewer', 'Changes nothing']]) {
    const choice = roles.getByRole('radio', { name: role, exact: true })
    assert.ok((await choice.evaluate((node) => document.getElementById(node.getAttribute('aria-describedby')).textContent)).includes(may))
    await roles.getByText(may).waitFor()
  }
  await expectNoAxeViolations(page)
  await page.getByLabel('E-mail').fill('not an address')
  await page.getByRole('button', { name: 'Make the link' }).click()

  // The password comes first: who is asked once more cancels, and nothing is lost.
  const again = page.getByRole('dialog', { name: 'Confirm that it is you' })
  await again.waitFor()
  await expectNoAxeViolations(page)
  await page.keyboard.press('Escape')
  await again.waitFor({ state: 'detached' })
  assert.equal(await page.getByLabel('E-mail').inputValue(), 'not an address')
  await page.getByRole('button', { name: 'Make the link' }).click()
  await again.getByRole('textbox', { name: 'Your password' }).fill('not the password')
  await page.keyboard.press('Enter')
  await again.locator('[aria-invalid=true]').waitFor()
  await again.getByRole('textbox', { name: 'Your password' }).fill('correct horse battery staple')
  await page.keyboard.press('Enter')
  await again.waitFor({ state: 'detached' })

  await page.locator('input[aria-invalid=true]').waitFor() // now it is the address that is refused
  await page.getByLabel('E-mail').fill('grace@example.com')
  await page.getByRole('radio', { name: 'viewer', exact: true }).check()
  await page.getByRole('button', { name: 'Make the link' }).click()
  const shown = page.getByRole('dialog', { name: 'A link for grace@example.com' })
  const link = new URL(await shown.getByRole('region', { name: 'Link' }).innerText())
  await expectNoAxeViolations(page)
  await shown.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('row', { name: /grace@example\.com.*invited.*viewer/ }).waitFor()

  const context = await world.window({ signedIn: false })
  const theirs = await world.open('/join' + link.hash, { context })
  await theirs.getByText('You are invited as grace@example.com, role viewer, by ada@example.com.').waitFor()
  await expectNoAxeViolations(theirs)
  assert.equal(new URL(theirs.url()).pathname + new URL(theirs.url()).search + new URL(theirs.url()).hash, '/admin/join')
  const password = theirs.getByRole('textbox', { name: 'Password' })
  await password.fill('12345678')
  await theirs.keyboard.press('Enter')
  await theirs.locator('[name=new-password][aria-invalid=true]').waitFor()
  await theirs.waitForFunction(() => document.activeElement?.getAttribute('name') === 'new-password')
  await password.fill('battery staple correct horse')
  await theirs.keyboard.press('Enter')
  await theirs.getByRole('navigation', { name: 'Screens' }).first().waitFor()
  await theirs.goto(new URL('/admin/administrators', world.url).href)
  await theirs.getByRole('heading', { name: 'This is not for your role' }).waitFor()
  await world.close(theirs)
  // The link tells nothing once it is used, and its token is in no line of the log.
  const late = await world.open('/join' + link.hash, { signedIn: false })
  await late.getByRole('heading', { name: 'The link is not good any more' }).waitFor()
  assert.equal(await late.getByText('grace@example.com').count(), 0)
  await expectNoAxeViolations(late)
  await world.close(late)
  assert.ok(!world.log.some((line) => line.includes(link.hash.slice('#token='.length))))
  await world.close(page)
})

test('a new password that is too weak is refused at its field, which has the focus', { timeout: 60_000 }, async () => {
  const page = await world.open('/account')
  await page.getByLabel('Present password').fill(owner.password)
  await page.getByLabel('New password').fill('12345678')
  await page.getByRole('button', { name: 'Change the password' }).click()
  await page.locator('[name=new-password][aria-invalid=true]').waitFor()
  await page.waitForFunction(() => document.activeElement?.getAttribute('name') === 'new-password')
  assert.equal(await page.getByRole('alert').count(), 0)
  await world.close(page)
})

test('a role is changed, and the last owner stays one', { timeout: 60_000 }, async () => {
  const page = await world.open('/administrators')
  await page.getByRole('button', { name: 'What to do with grace@example.com' }).click()
  await page.getByRole('menuitemradio', { name: 'editor' }).click()
  await page.getByRole('row', { name: /grace@example\.com.*editor/ }).waitFor()
  await page.getByRole('button', { name: 'What to do with ada@example.com' }).click()
  await page.getByRole('menuitemradio', { name: 'viewer' }).click()
  await page.getByText(/^The role is as it was/).waitFor()
  await page.getByRole('row', { name: /ada@example\.com.*owner/ }).waitFor()
  await world.close(page)
})

test('an authenticator app is set up, asked for and turned off', { timeout: 120_000 }, async () => {
  const page = await world.open('/account')
  await page.getByRole('button', { name: 'Set up an app' }).click()
  const dialog = page.getByRole('dialog', { name: 'Set up an authenticator app' })
  const secret = (await dialog.getByRole('region', { name: 'Secret' }).innerText()).trim()
  const picture = dialog.getByRole('img', { name: /QR code/ })
  assert.ok(await picture.evaluate((image) => image.complete && image.naturalWidth > 0), 'the QR code is not drawn')
  await expectNoAxeViolations(page)
  await dialog.getByLabel('Code that the app shows').fill('000000')
  await page.keyboard.press('Enter')
  await dialog.locator('[aria-invalid=true]').waitFor()
  const first = Date.now()
  await dialog.getByLabel('Code that the app shows').fill(totp(secret, first))
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  const made = page.getByRole('dialog', { name: 'Your recovery codes' })
  const codes = (await made.getByRole('region', { name: 'Recovery codes' }).innerText()).trim().split('\n')
  assert.equal(codes.length, 10)
  assert.match(codes[0], /^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/)
  await expectNoAxeViolations(page)
  await page.keyboard.press('Escape') // they are not shown again: this is no way out
  await made.getByRole('button', { name: 'I have kept them' }).click()
  await made.waitFor({ state: 'detached' })
  await page.getByText('10 left', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Turn off' }).waitFor()

  // Without the app one of them signs in, once.
  const elsewhere = await world.window({ signedIn: false })
  const door = await elsewhere.newPage()
  await door.goto(new URL('/admin/', world.url).href)
  for (const [code, works] of [[codes[0], true], [codes[0], false], [codes[1].toUpperCase(), true]]) {
    await door.getByRole('textbox', { name: 'E-mail' }).fill(owner.email)
    await door.getByRole('textbox', { name: 'Password' }).fill(owner.password)
    await door.keyboard.press('Enter')
    await door.getByRole('button', { name: 'Use a recovery code' }).click()
    await door.getByLabel('Recovery code').fill(code)
    await door.keyboard.press('Enter')
    if (works) {
      await door.getByRole('heading', { name: 'Home' }).waitFor()
      await elsewhere.clearCookies()
    } else {
      await door.getByText('The recovery code is wrong, or was used already').waitFor()
      await expectNoAxeViolations(door)
    }
    await door.goto(new URL('/admin/', world.url).href)
  }
  await elsewhere.close()
  await page.reload()
  await page.getByText('8 left', { exact: true }).waitFor()
  await elevationEnds()
  await page.getByRole('button', { name: 'Make new codes' }).click()
  await page.getByRole('dialog', { name: 'Make new recovery codes?' }).getByRole('button', { name: 'Make new codes' }).click()
  const confirm = page.getByRole('dialog', { name: 'Confirm that it is you' })
  await confirm.getByRole('button', { name: 'Use a recovery code' }).click()
  await confirm.getByLabel('Recovery code').fill(codes[2])
  await page.keyboard.press('Enter')
  await made.getByRole('button', { name: 'I have kept them' }).click()
  await page.getByText('10 left', { exact: true }).waitFor()

  await elevationEnds()
  await page.getByRole('button', { name: 'Turn off' }).click()
  await page.getByRole('dialog', { name: 'Turn the app off?' }).getByRole('button', { name: 'Turn off' }).click()
  const again = page.getByRole('dialog', { name: 'Confirm that it is you' })
  await again.getByLabel('Code of your authenticator app').fill(totp(secret, first))
  await page.keyboard.press('Enter')
  await again.locator('[aria-invalid=true]').waitFor() // a code counts once
  await again.getByLabel('Code of your authenticator app').fill(totp(secret, Math.max(Date.now(), first + 30_000))) // the next one: clocks may differ by a step
  await page.keyboard.press('Enter')
  await again.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Set up an app' }).waitFor()
  await world.close(page)
})

test('an administrator is deleted by typing the address, and their windows are shut', { timeout: 60_000 }, async () => {
  const context = await world.window({ signedIn: false })
  await world.signIn(context, { email: 'grace@example.com', password: 'battery staple correct horse' })
  const page = await world.open('/administrators')
  await page.getByRole('button', { name: 'What to do with grace@example.com' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete this administrator?' })
  assert.ok(await dialog.getByRole('button', { name: 'Delete' }).isDisabled())
  await dialog.getByRole('textbox').fill('grace@example.com')
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('row', { name: /grace@example\.com/ }).waitFor({ state: 'detached' })
  assert.equal((await context.request.get('/admin/api/session')).status(), 401)
  await world.close(page)
  await context.close()
})

