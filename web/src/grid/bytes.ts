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
