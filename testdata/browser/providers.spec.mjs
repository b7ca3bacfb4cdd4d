// Sign-in providers: what to set for a built-in one, and one of one's own from its discovery to its removal.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { expectNoAxeViolations, expectNoSidewaysScroll, start } from './world.mjs'

const hostile = `<img src=x onerror="globalThis.hit=1"> "Acme" \u202Egnp.exe`
const secret = 'canary-of-a-client-secret'

let world, issuer, server
before(async () => {
  // What is asked of an issuer before users are sent there: OpenID Connect Discovery §4.
  server = createServer((request, response) => {
    if (request.url !== '/.well-known/openid-configuration') return response.writeHead(404).end()
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token`, userinfo_endpoint: `${issuer}/userinfo`, jwks_uri: `${issuer}/keys`, id_token_signing_alg_values_supported: ['RS256'] }))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  issuer = `http://127.0.0.1:${server.address().port}`
  world = await start({ flags: ['--outgoing-allow', '127.0.0.0/8', '--oauth-providers', JSON.stringify({ github: { client_id: 'the-id', client_secret: secret } })] })
})
after(async () => {
  await world?.stop()
  server?.close()
})

const row = (page, table, name) => page.getByRole('table', { name: table }).getByRole('row').filter({ hasText: name })
const authorize = (to) => fetch(`${world.url}/auth/v1/authorize?provider=custom:acme`, { redirect: 'manual' }).then((answer) => assert.equal(answer.headers.get('Location')?.split('?')[0] ?? answer.status, to))

test('a built-in provider is set, counts at once, and is removed by its name', { timeout: 90_000 }, async () => {
  const page = await world.open('/settings')
  await page.getByRole('link', { name: 'Sign-in providers' }).click()
  await page.waitForURL(/\/settings\/providers$/)
  await page.getByRole('region', { name: 'Callback URL' }).getByText(`${world.url}/auth/v1/callback`).waitFor()
  await row(page, 'Built-in providers', 'GitHub').getByText('by a flag').waitFor()
  assert.match(await row(page, 'Built-in providers', 'GitHub').innerText(), /on\s+the-id/)
  assert.match(await row(page, 'Built-in providers', 'Google').innerText(), /not set/)
  await page.getByRole('link', { name: 'Google' }).click()
  const drawer = page.getByRole('dialog', { name: 'Google' })
  await page.reload()
  await drawer.getByRole('textbox', { name: 'Client id', exact: true }).fill('google-id')
  await drawer.getByRole('button', { name: 'Save' }).click()
  await drawer.getByText('The provider gives it to you, beside the id.').waitFor()
  await drawer.getByLabel('Client secret').fill(secret)
  await expectNoAxeViolations(page)
  await drawer.getByRole('button', { name: 'Save' }).click()
  await drawer.waitFor({ state: 'detached' })
  assert.match(await row(page, 'Built-in providers', 'Google').innerText(), /on\s+google-id\s+set here/)
  const offered = await fetch(`${world.url}/auth/v1/settings`, { headers: { apikey: world.keys.ANON_KEY } })
  assert.equal((await offered.json()).external.google, true)
  await page.getByRole('link', { name: 'Google' }).click()
  assert.equal(await drawer.getByLabel('Client secret').getAttribute('placeholder'), 'unchanged')
  await drawer.getByRole('button', { name: 'Remove' }).click()
  const sure = page.getByRole('dialog', { name: 'Remove Google?' })
  await sure.getByRole('textbox').fill('google')
  await sure.getByRole('button', { name: 'Remove' }).click()
  await drawer.waitFor({ state: 'detached' })
  assert.match(await row(page, 'Built-in providers', 'Google').innerText(), /not set/)
  // What the operator gives is shown, and not changed here.
  await page.getByRole('link', { name: 'GitHub' }).click()
  const fixed = page.getByRole('dialog', { name: 'GitHub' })
  await fixed.getByText('BASALT_OAUTH_GITHUB_CLIENT_ID').waitFor()
  assert.equal(await fixed.getByRole('textbox').count(), 0)
  await expectNoAxeViolations(page)
  await fixed.getByRole('button', { name: 'Close' }).last().click()
  await page.waitForURL(/\/settings\/providers$/)
  assert.ok(!(await page.content()).includes(secret))
  await page.getByRole('combobox', { name: 'Manual identity linking' }).waitFor() // the settings of providers are below
  await world.close(page)
})

test('a provider of one’s own is checked, added, switched off, changed and removed', { timeout: 120_000 }, async () => {
  const page = await world.open('/settings/providers')
  await page.getByRole('link', { name: 'Add a provider' }).first().click()
  const add = page.getByRole('dialog', { name: 'Add a provider' })
  await add.getByRole('textbox', { name: 'Identifier' }).fill('acme')
  await add.getByText('custom:acme').waitFor()
  await add.getByRole('textbox', { name: 'Name' }).fill(hostile)
  await add.getByRole('textbox', { name: 'Issuer' }).fill(`${issuer}/nobody`)
  await add.getByRole('button', { name: 'Check the issuer' }).click()
  await add.getByText('does not answer as a server of OpenID Connect').waitFor()
  await add.getByRole('textbox', { name: 'Issuer' }).fill(issuer)
  await add.getByText('does not answer').waitFor({ state: 'detached' })
  await add.getByRole('button', { name: 'Check the issuer' }).click()
  await add.getByText(`${issuer}/token`).waitFor()
  await add.getByRole('textbox', { name: 'Client id', exact: true }).fill('basalt')
  await add.getByRole('button', { name: 'Add', exact: true }).click()
  await add.getByRole('alert').getByText('client_secret is required').waitFor()
  await add.getByLabel('Client secret').fill(secret)
  await expectNoAxeViolations(page)
  await add.getByRole('button', { name: 'Add', exact: true }).click()
  await add.waitFor({ state: 'detached' })
  await row(page, 'Own providers', 'custom:acme').waitFor()
  await authorize(`${issuer}/authorize`)
  const { rows: [kept] } = await world.sql('select client_secret from auth.custom_oauth_providers')
  assert.match(kept.client_secret, /^enc:/)

  await row(page, 'Own providers', 'custom:acme').getByRole('switch').uncheck()
  await page.getByText(/gnp.exe is off$/).waitFor()
  await authorize(400)
  await page.getByRole('link', { name: /onerror/ }).click()
  const edit = page.getByRole('dialog', { name: /onerror/ })
  assert.equal(await edit.getByLabel('Client secret').inputValue(), '')
  await edit.getByRole('checkbox', { name: 'Users can sign in by it' }).check()
  await edit.getByText('More', { exact: true }).click()
  await edit.getByRole('textbox', { name: 'Parameters' }).fill('state=x')
  await edit.getByRole('button', { name: 'Save' }).click()
  await edit.getByRole('alert').getByText(/not theirs to set/).waitFor()
  await edit.getByRole('button', { name: 'Close' }).click() // what is not saved is not lost without a word
  await page.getByRole('dialog', { name: 'Close without saving?' }).getByRole('button', { name: 'Cancel' }).click()
  await edit.getByRole('textbox', { name: 'Parameters' }).fill('prompt=login')
  await edit.getByRole('button', { name: 'Save' }).click()
  await edit.waitFor({ state: 'detached' })
  await authorize(`${issuer}/authorize`)

  await page.getByRole('link', { name: /onerror/ }).click()
  await edit.getByRole('button', { name: 'Remove' }).click()
  const sure = page.getByRole('dialog', { name: /^Remove/ })
  await sure.getByRole('textbox').fill('custom:acme')
  await sure.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('heading', { name: 'No provider of your own' }).waitFor()
  await authorize(400)
  const { rows: audit } = await world.sql(`select action, before, after from basalt.administrator_audit where target = 'custom:acme' order by id`)
  assert.deepEqual(audit.map((entry) => entry.action), ['provider.create', 'provider.change', 'provider.change', 'provider.delete'])
  assert.ok(!JSON.stringify(audit).includes(secret))
  assert.equal(await page.evaluate(() => globalThis.hit), undefined)
  await world.close(page)
})

test('providers fit a narrow window', { timeout: 60_000 }, async () => {
  const page = await world.open('/settings/providers?custom=new', { width: 360, scheme: 'dark' })
  await page.getByRole('dialog', { name: 'Add a provider' }).waitFor()
  await expectNoAxeViolations(page)
  await expectNoSidewaysScroll(page)
  await world.close(page)
})
