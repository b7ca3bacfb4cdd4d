/** Gives the browser something to save under a name. */
export function download(name: string, content: BlobPart, type: string): void {
  const link = document.createElement('a')
  const address = URL.createObjectURL(new Blob([content], { type }))
  link.href = address
  link.download = name
  link.click()
  // The click only asks for the download: an address that ends with it may be gone before the browser reads it.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
