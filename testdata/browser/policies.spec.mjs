// Row level security as a person meets it: what is open, mending it, writing a policy, trying it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ada, bob, seed } from './policies.seed.mjs'
import { expectNoAxeViolations, expectNoSidewaysScroll, start } from './world.mjs'

const attack = `<img src=x onerror=alert(1)> "q" 'r' \u202Egnp`
let world

before(async () => {
  world = await start()
  await seed(world)
})
after(async () => { await world?.stop() })

test('the list says in words what each table lets through', async () => {
  const page = await world.open('/policies')
  await page.getByRole('row', { name: /todos.*everybody with a grant reads everything/ }).waitFor()
  await page.getByRole('row', { name: /notes.*no policy: nobody reads/ }).waitFor()
  await page.getByRole('row', { name: /profiles.*On 1 policy/ }).waitFor()
  await page.getByRole('searchbox').fill('tod')
  await page.getByRole('row', { name: /notes/ }).waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('link', { name: 'public.todos' }).click()
  await page.getByRole('heading', { name: 'public.todos' }).waitFor()
  await page.goBack()
  assert.equal(await page.getByRole('searchbox').inputValue(), 'tod')
  await world.close(page)
})

test('a policy is written from a template, checked, and comes into force with row level security', async () => {
  const page = await world.open('/policies/public/todos')
  await page.getByRole('link', { name: /Rows of their owner/ }).click()
  const drawer = page.getByRole('dialog', { name: 'New policy on todos' })
  await drawer.getByRole('region', { name: 'SQL that runs' }).getByText('enable row level security').waitFor()
  await drawer.getByLabel('WITH CHECK').fill('nobody = 1')
  await drawer.getByRole('button', { name: 'Check' }).click()
  await drawer.getByText('42703').waitFor()
  await drawer.getByLabel('WITH CHECK').fill('(select auth.uid()) = owner')
  await drawer.getByRole('button', { name: 'Check' }).click()
  await drawer.getByText('PostgreSQL takes it').waitFor()
  await expectNoAxeViolations(page)
  await drawer.getByRole('button', { name: 'Create the policy' }).click()
  await page.getByText('On: 1 policy').waitFor()
  await page.getByRole('heading', { name: 'Users manage their own rows' }).waitFor()
  const { rows } = await world.sql(`select relrowsecurity from pg_class where relname = 'todos'`)
  assert.equal(rows[0].relrowsecurity, true)
  await page.getByRole('link', { name: /^Edit Users/ }).click()
  const edit = page.getByRole('dialog', { name: /^Policy Users/ })
  await edit.getByRole('button', { name: 'Close' }).last().click()
  await edit.waitFor({ state: 'detached' })
  await page.getByRole('link', { name: /^Edit Users/ }).click()
  await edit.getByLabel('Name').fill(attack)
  await edit.getByText('rename to').waitFor()
  await edit.getByRole('button', { name: 'Change the policy' }).click()
  await page.getByRole('heading', { name: attack.slice(0, 20) }).waitFor()
  await world.close(page)
})

test('the tester shows which policy lets which row through, and keeps nothing', async () => {
  const page = await world.open('/policies/public/todos?tab=tester')
  await page.getByRole('combobox', { name: 'User' }).fill('ada')
  await page.getByRole('option', { name: /ada@app\.example/ }).click()
  await page.getByText('Claims of the token').click()
  await page.waitForFunction((id) => document.querySelector('textarea')?.value.includes(id), ada)
  await page.getByRole('button', { name: 'Test', exact: true }).click()
  await page.getByRole('heading', { name: '2 of 4 rows read' }).waitFor()
  // Run elsewhere its SQL gives the same answer.
  const answers = await world.sql(await page.getByRole('region', { name: 'Statement' }).locator('pre, code').first().innerText())
  assert.deepEqual(answers.find(({ command }) => command === 'SELECT').rows.map(({ id }) => id), [1, 3])
  // An answer goes on being that of its own question.
  await page.getByRole('radio', { name: 'delete' }).click()
  await page.getByText('This is the answer for select').waitFor()
  await page.getByRole('heading', { name: '2 of 4 rows read' }).waitFor()
  await page.getByRole('radio', { name: 'select' }).click()
  await page.getByText('This is the answer for select').waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('heading', { name: '2 of 4 rows read' }).waitFor()
  await page.getByText('id 2 ·').click()
  await page.getByRole('listitem').filter({ hasText: 'id 2 ·' }).getByText('No permissive policy is true for it').waitFor()
  await page.getByRole('radio', { name: 'update' }).check()
  await page.getByRole('button', { name: 'Set a column' }).click()
  await page.getByLabel('Column 1').selectOption('owner')
  await page.getByLabel('Value of owner').fill(bob)
  await page.getByLabel('Rows where').fill('id = 1')
  await page.getByRole('button', { name: 'Test', exact: true }).click()
  await page.getByRole('heading', { name: '0 of 1 row updated' }).waitFor()
  await page.getByText('refused', { exact: true }).waitFor()
  await page.getByText('new row violates row-level security policy').waitFor()
  await expectNoAxeViolations(page)
  await page.getByLabel('Rows where').fill('nothing = 1')
  await page.getByRole('button', { name: 'Test', exact: true }).click()
  await page.getByText('42703').waitFor()
  const { rows } = await world.sql('select owner from todos where id = 1')
  assert.equal(rows[0].owner, ada)
  await world.close(page)
})

test('a finding is mended after its SQL was seen', async () => {
  const page = await world.open('/policies/findings?severity=critical')
  const group = page.getByRole('region', { name: 'A view goes around row level security' })
  await group.getByRole('button', { name: 'Mend open_profiles' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('security_invoker').first().waitFor()
  await expectNoAxeViolations(page)
  await dialog.getByRole('button', { name: 'Run' }).click()
  await group.waitFor({ state: 'detached' })
  await world.close(page)
})

test('what names and values hold is text', async () => {
  await world.sql(`create table "${attack.replaceAll('"', '""')}" (id int, "<svg onload=alert(1)>" text);
    insert into "${attack.replaceAll('"', '""')}" values (1, repeat('<script>alert(1)</script>', 4000));
    grant select on "${attack.replaceAll('"', '""')}" to anon`)
  const page = await world.open('/policies')
  await page.getByRole('link', { name: /onerror/ }).click()
  await page.getByRole('tab', { name: 'Tester' }).click()
  await page.getByLabel('Role').selectOption('anon')
  await page.getByRole('button', { name: 'Test', exact: true }).click()
  await page.getByRole('heading', { name: '1 of 1 row read' }).waitFor()
  await page.getByText('Row level security is off: no policy is asked').waitFor()
  await expectNoSidewaysScroll(page)
  await world.close(page)
})

test('viewers see and cannot change', async () => {
  const page = await world.open('/policies/public/todos')
  await world.sql(`update basalt.administrators set role = 'viewer'`)
  await page.reload()
  await page.getByRole('button', { name: 'New policy' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Turn RLS off' }).getAttribute('aria-disabled'), 'true')
  await world.sql(`update basalt.administrators set role = 'owner'`)
  await world.close(page)
})
