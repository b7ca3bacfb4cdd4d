// The screens as they are looked at: for the pictures of `make screenshots` and for axe. A screen is added by a line.
// `seed` fills the database once; `prepare` brings an opened page into the state that is to be seen.
export const screens = [
  { name: 'tables', path: '/tables' },
  { name: 'sign-in', path: '/sign-in', signedIn: false },
  { name: 'join', path: '/join#token=none', signedIn: false },
  { name: 'account', path: '/account' },
  { name: 'administrators', path: '/administrators' },
  { name: 'settings', path: '/settings/accounts-and-sessions' },
  { name: 'signing-keys', path: '/settings/signing-keys' },
  { name: 'about', path: '/settings/about' },
  { name: 'not-found', path: '/nowhere' },
  { name: 'palette', path: '/account', prepare: async (page) => { await page.keyboard.press('Control+k'); await page.getByRole('combobox').waitFor() } },
  { name: 'view-as', path: '/account', prepare: async (page) => { await page.getByRole('button', { name: /seen as/ }).click(); await page.getByText('See data as').waitFor() } },
  { name: 'keys', path: '/account', prepare: async (page) => { await page.keyboard.press('Shift+?'); await page.getByRole('dialog', { name: 'Keys' }).waitFor() } },
]
