declare module 'virtual:icons' {
  /** Each icon's path data, in a box of 24 by 24. */
  const paths: Readonly<Record<import('./kit/icons.ts').IconName, string>>
  export default paths
}
