// The screens as they are looked at: for the pictures of `make screenshots` and for axe. A screen is added by a line.
// `seed` fills the database once; `prepare` brings an opened page into the state that is to be seen.
export const screens = [
  { name: 'sign-in', path: '/sign-in', signedIn: false },
  { name: 'join', path: '/join#token=none', signedIn: false },
]
