declare module 'virtual:sprite' {
  const address: string
  export default address
}
