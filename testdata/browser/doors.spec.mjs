// Getting in: the set-up link, signing out and in by keyboard, and the shell; axe on each of these screens.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { screens, seed } from './screens.mjs'
import { expectAccessible, expectNoAxeViolations, owner, settled, start } from './world.mjs'

let world
before(async () => { world = await start({ administrator: false }) })
after(() => world?.stop())

async function type(page, text) {
  await page.keyboard.type(text)
  await page.keyboard.press('Tab')
}

// Presses Tab until a control has the focus, as somebody without a mouse does.
async function tabTo(page, role, name) {
  const wanted = page.getByRole(role, { name })
  for (let presses = 0; presses < 40; presses++) {
    if (await wanted.evaluate((node) => node === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  assert.fail(`${name} is not reached by Tab`)
}

test('the set-up link makes the owner, who signs out, signs in again and goes about, by keyboard alone', { timeout: 120_000 }, async () => {
  const context = await world.window({ signedIn: false })
  const link = new URL(world.setupURL)
  const page = await world.open('/setup' + link.hash, { context })
  await page.getByRole('heading', { name: 'Welcome' }).waitFor()
  assert.equal(new URL(page.url()).hash, '', 'the token stays in the address')
  await expectNoAxeViolations(page)
  const address = page.getByRole('textbox', { name: 'E-mail' })
  await page.waitForFunction(() => document.activeElement?.getAttribute('name') === 'email')
  await page.keyboard.type('nobody')
  await tabTo(page, 'textbox', 'Password')
  await page.keyboard.type(owner.password)
  await page.keyboard.press('Enter')
  await page.locator('[name=email][aria-invalid=true]').waitFor()
  assert.equal(await page.getByRole('alert').count(), 0)
  await page.getByRole('textbox', { name: 'Password' }).fill('')
  await address.fill('')
  await address.focus()
  await type(page, owner.email)
  await page.keyboard.type('short')
  await page.keyboard.press('Enter')
  await page.locator('[aria-invalid=true]').waitFor()
  await tabTo(page, 'textbox', 'Password')
  await page.keyboard.press('Control+a')
  await page.keyboard.type(owner.password)
  await page.keyboard.press('Enter')
  await page.getByRole('navigation', { name: 'Screens' }).first().waitFor()
  await settled(page)

  await tabTo(page, 'button', 'Account')
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Your account' }).waitFor()
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  assert.equal((await context.request.get('/admin/api/session')).status(), 401)

  await tabTo(page, 'textbox', 'E-mail')
  await type(page, owner.email)
  await page.keyboard.type('not the password')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').waitFor()
  await tabTo(page, 'textbox', 'Password')
  await page.keyboard.press('Control+a')
  await page.keyboard.type(owner.password)
  await page.keyboard.press('Enter')
  await page.getByRole('navigation', { name: 'Screens' }).first().waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').waitFor()
  await page.keyboard.type('your account')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Your account' }).waitFor()
  await page.keyboard.press('Shift+?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor({ state: 'detached' })
  await world.close(page)
})

test('the set-up link works once', async () => {
  const page = await world.open('/setup' + new URL(world.setupURL).hash, { signedIn: false })
  await page.getByRole('heading', { name: 'Already set up' }).waitFor()
  await world.close(page)
})

test('an address is kept through signing in', async () => {
  const page = await world.open('/account?from=link', { signedIn: false })
  await page.getByRole('textbox', { name: 'E-mail' }).fill(owner.email)
  await page.getByRole('textbox', { name: 'Password' }).fill(owner.password)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Your account' }).waitFor()
  assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, '/admin/account?from=link')
  await world.close(page)
})

test('an address of another host is not gone to after signing in', async () => {
  for (const next of ['https://example.com/', '//example.com/', '/admin//example.com', '/admin/api/session', 'javascript:alert(1)']) {
    const page = await world.open(`/sign-in?next=${encodeURIComponent(next)}`)
    await page.getByRole('navigation', { name: 'Screens' }).first().waitFor()
    assert.equal(new URL(page.url()).origin, new URL(world.url).origin)
    await world.close(page)
  }
})

test('a session that is ended elsewhere is said so, and what was typed is still there', async () => {
  const page = await world.open('/account')
  await page.getByLabel('Present password').fill('typed before')
  await world.sql('delete from basalt.administrator_sessions')
  await page.getByLabel('New password').fill('another long password')
  await page.getByRole('button', { name: 'Change the password' }).click()
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
  await dialog.waitFor()
  await expectNoAxeViolations(page)
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await dialog.waitFor()
  await dialog.getByRole('textbox', { name: 'Password' }).fill(owner.password)
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  assert.equal(await page.getByLabel('Present password').inputValue(), 'typed before')
  await world.close(page)
})

test('axe finds nothing, and nothing is wider than the window', { timeout: 1_200_000 }, async (t) => {
  await seed(world, screens)
  for (const { name, path, signedIn = true, prepare } of screens) {
    await t.test(name, () => expectAccessible(world, path, { prepare, signedIn }))
  }
})
