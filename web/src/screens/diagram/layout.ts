// Finds places for the boxes: tables that are linked by dagre in layers, those that stand alone in rows below.
import { Graph, layout as dagre } from '@dagrejs/dagre'
import { extent, type Box, type Edge, type Point } from './boxes.ts'

const gap = 40

export function layout(boxes: readonly Box[], edges: readonly Edge[]): Map<string, Point> {
  const linked = new Set(edges.flatMap((edge) => edge.from === edge.to ? [] : [edge.from, edge.to]))
  const graph = new Graph({ multigraph: true })
  graph.setGraph({ rankdir: 'LR', nodesep: 32, ranksep: 96, marginx: gap, marginy: gap })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const box of boxes) if (linked.has(box.id)) graph.setNode(box.id, { width: box.width, height: box.height })
  for (const edge of edges) if (edge.from !== edge.to) graph.setEdge(edge.from, edge.to, {}, edge.id)
  const places = new Map<string, Point>()
  if (linked.size > 0) {
    dagre(graph)
    for (const id of graph.nodes()) {
      const { x, y, width, height } = graph.node(id) as { x: number, y: number, width: number, height: number }
      places.set(id, { x: Math.round(x - width / 2), y: Math.round(y - height / 2) })
    }
  }
  const around = extent(boxes, places)
  const alone = boxes.filter((box) => !linked.has(box.id))
  const room = Math.max(around.width, Math.sqrt(alone.reduce((sum, box) => sum + (box.width + gap) * (box.height + gap), 0)) * 1.3, 600)
  let [x, y, row] = [0, linked.size > 0 ? around.y + around.height + gap * 2 : gap, 0]
  for (const box of alone) {
    if (x > 0 && x + box.width > room) {
      x = 0
      y += row + gap
      row = 0
    }
    places.set(box.id, { x: x + gap, y })
    x += box.width + gap
    row = Math.max(row, box.height)
  }
  return places
}
