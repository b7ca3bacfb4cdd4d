declare module 'virtual:icons' {
  /** What is drawn of each icon, in a box of 24 by 24. */
  const shapes: Readonly<Record<import('./kit/icons.ts').IconName, string>>
  export default shapes
}
