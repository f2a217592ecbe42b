// The layout of a plan: careful where there is time for it, quick where there are many steps. The worker runs it.
import { Graph, layout } from "@dagrejs/dagre";
import { type Link, NODE, type Placed, placeQuickly, type Point, ranksOf } from "./graph-geometry";

/** Steps and the ranks that lines pass: beyond so many the careful layout takes seconds. */
const MANY = 600;
/** Steps beside one another: beyond so many a line of them cannot be read. */
const WIDE = 14;

export function place(names: string[], links: Link[]): Placed {
  const ranks = ranksOf(names, links);
  const passed = links.reduce((sum, link) => sum + (ranks.get(link.to) ?? 0) - (ranks.get(link.from) ?? 0), names.length);
  const widths = new Map<number, number>();
  for (const rank of ranks.values()) widths.set(rank, (widths.get(rank) ?? 0) + 1);
  return passed > MANY || Math.max(...widths.values(), 0) > WIDE ? placeQuickly(names, links, ranks) : placeCarefully(names, links);
}

function placeCarefully(names: string[], links: Link[]): Placed {
  const graph = new Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 22, ranksep: 40, marginx: 12, marginy: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const name of names) graph.setNode(name, { ...NODE });
  for (const link of links) graph.setEdge(link.from, link.to, {});
  layout(graph);
  const nodes: Record<string, Point> = {};
  for (const name of names) {
    const at = graph.node(name) as Point;
    nodes[name] = { x: at.x, y: at.y };
  }
  const edges = links.map((link) => ({ ...link, points: ((graph.edge(link.from, link.to) as { points?: Point[] }).points ?? []).map(({ x, y }) => ({ x, y })) }));
  const size = graph.graph() as { width?: number; height?: number };
  return { nodes, edges, width: size.width ?? 0, height: size.height ?? 0 };
}
