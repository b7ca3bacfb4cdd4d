/** Bytes as PostgreSQL's hex text of a bytea (manual §8.4.1), and back. */
export function toHex(bytes: Uint8Array): string {
  const parts: string[] = ['\\x']
  for (const byte of bytes) parts.push(byte.toString(16).padStart(2, '0'))
  return parts.join('')
}

export function fromHex(text: string): Uint8Array<ArrayBuffer> {
  const digits = text.replace(/^\\x/, '').replace(/\s/g, '')
  const bytes = new Uint8Array(digits.length >> 1)
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16)
  return bytes
}

/** Lets the browser save bytes as a file. They are never opened: the type says nothing of them. */
export function download(name: string, bytes: Uint8Array<ArrayBuffer>): void {
  const url = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has taken the bytes when the click returns to it.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
