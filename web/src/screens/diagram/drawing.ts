// The diagram as a file of its own: SVG with its colours inside.
import { curve, cut, extent, headHeight, lineHeight, type Box, type Edge, type Point } from './boxes.ts'

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** A text within XML; characters that XML cannot hold are left out. */
export function escaped(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '').replace(/[&<>"']/g, (char) => entities[char]!)
}

export function drawing(boxes: readonly Box[], edges: readonly Edge[], at: ReadonlyMap<string, Point>): string {
  const { x, y, width, height } = extent(boxes, at)
  const byId = new Map(boxes.map((box) => [box.id, box]))
  const lines = edges.map((edge) => `<path d="${curve(edge, byId.get(edge.from)!, at.get(edge.from)!, byId.get(edge.to)!, at.get(edge.to)!)}"><title>${escaped(edge.label)}</title></path>`)
  const tables = boxes.map((box) => {
    const point = at.get(box.id)!
    return [
      `<g transform="translate(${point.x} ${point.y})">`,
      `<rect width="${box.width}" height="${box.height}" rx="6" fill="#fff" stroke="#8d8676"/>`,
      `<text x="12" y="20" font-weight="600">${escaped(cut(box.name, 36))}</text>`,
      `<path d="M0 ${headHeight}H${box.width}" stroke="#e3ded3"/>`,
      ...box.lines.map((line, i) => `<text x="12" y="${headHeight + i * lineHeight + 16}">${line.key ? '* ' : ''}${escaped(line.name)}</text><text x="${box.width - 12}" y="${headHeight + i * lineHeight + 16}" text-anchor="end" fill="#686154">${escaped(line.type)}</text>`),
      ...box.more > 0 ? [`<text x="12" y="${headHeight + box.lines.length * lineHeight + 16}" fill="#686154">and ${box.more} more</text>`] : [],
      '</g>',
    ].join('')
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${x - 24} ${y - 24} ${width + 48} ${height + 48}" width="${width + 48}" height="${height + 48}" font-family="ui-monospace, monospace" font-size="12" fill="#23201a">
<rect x="${x - 24}" y="${y - 24}" width="${width + 48}" height="${height + 48}" fill="#f6f4f0"/>
<g fill="none" stroke="#8f5a00">${lines.join('\n')}</g>
${tables.join('\n')}
</svg>
`
}
