// Where each step of a plan is drawn and how the lines between them run, as far as no library is needed. Pure.
export interface Linked { name: string; needs?: string[]; after?: string[]; branch?: Record<string, boolean> }
export type EdgeKind = "data" | "sequence" | "choice";
export interface Link { from: string; to: string; kind: EdgeKind; label: string }
export interface Point { x: number; y: number }
export interface Placed { nodes: Record<string, Point>; edges: (Link & { points: Point[] })[]; width: number; height: number }

export const NODE = { width: 196, height: 50 };

/** The lines of a plan: results that are used, steps only waited for, and sides of choices. One line between two steps. */
export function linksOf(steps: Linked[]): Link[] {
  const known = new Set(steps.map((step) => step.name));
  const found = new Map<string, Link>();
  const add = (from: string, to: string, kind: EdgeKind, label = "") => {
    const key = `${from}\n${to}`;
    if (known.has(from) && from !== to && !found.has(key)) found.set(key, { from, to, kind, label });
  };
  for (const step of steps) {
    for (const [choice, side] of Object.entries(step.branch ?? {})) add(choice, step.name, "choice", side ? "yes" : "no");
    for (const each of step.needs ?? []) add(each, step.name, "data");
    for (const each of step.after ?? []) add(each, step.name, "sequence");
  }
  return [...found.values()];
}

/** Says whether two plans have the same shape: only then is a layout kept. */
export function shapeOf(steps: Linked[]): string {
  return JSON.stringify([steps.map((step) => step.name), linksOf(steps).map((link) => [link.from, link.to])]);
}

/** How many steps lie before each one on its longest way; a plan has no circles. */
export function ranksOf(names: string[], links: Link[]): Map<string, number> {
  const ranks = new Map(names.map((name) => [name, 0]));
  const left = new Map(names.map((name) => [name, 0]));
  const onward = new Map<string, string[]>();
  for (const link of links) {
    left.set(link.to, (left.get(link.to) ?? 0) + 1);
    onward.set(link.from, [...(onward.get(link.from) ?? []), link.to]);
  }
  const ready = names.filter((name) => !left.get(name));
  for (let name = ready.pop(); name !== undefined; name = ready.pop()) {
    for (const next of onward.get(name) ?? []) {
      ranks.set(next, Math.max(ranks.get(next) ?? 0, (ranks.get(name) ?? 0) + 1));
      left.set(next, (left.get(next) ?? 1) - 1);
      if (left.get(next) === 0) ready.push(next);
    }
  }
  return ranks;
}

const GAP = { x: 22, y: 54 };
const SWEEPS = 6;

/** Large plans: rows by rank, each ordered by where its neighbours stand. Good enough to read, and done at once. */
export function placeQuickly(names: string[], links: Link[], ranks: Map<string, number>): Placed {
  const rows: string[][] = [];
  for (const name of names) (rows[ranks.get(name) ?? 0] ??= []).push(name);
  const neighbours = new Map<string, string[]>();
  for (const { from, to } of links) {
    neighbours.set(from, [...(neighbours.get(from) ?? []), to]);
    neighbours.set(to, [...(neighbours.get(to) ?? []), from]);
  }
  const spot = new Map<string, number>();
  const number = (row: string[]) => row.forEach((name, index) => spot.set(name, index - (row.length - 1) / 2));
  rows.forEach(number);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const row of sweep % 2 ? [...rows].reverse() : rows) {
      const middle = new Map(row.map((name) => [name, mean((neighbours.get(name) ?? []).map((each) => spot.get(each) ?? 0), spot.get(name) ?? 0)]));
      row.sort((one, other) => (middle.get(one) ?? 0) - (middle.get(other) ?? 0));
      number(row);
    }
  }
  // A rank of hundreds would be a hairline: it is folded into lines, closer to one another than ranks are.
  const most = Math.max(8, Math.ceil(Math.sqrt(names.length) * 1.1));
  const width = Math.min(most, Math.max(...rows.map((row) => row.length))) * (NODE.width + GAP.x) + GAP.x;
  const nodes: Record<string, Point> = {};
  let y = 12 + NODE.height / 2;
  for (const row of rows) {
    for (let first = 0; first < row.length; first += most) {
      const line = row.slice(first, first + most);
      line.forEach((name, index) => {
        nodes[name] = { x: width / 2 + (index - (line.length - 1) / 2) * (NODE.width + GAP.x), y };
      });
      y += NODE.height + GAP.x;
    }
    y += GAP.y - GAP.x;
  }
  const edges = links.map((link) => {
    const from = nodes[link.from] ?? { x: 0, y: 0 };
    const to = nodes[link.to] ?? { x: 0, y: 0 };
    const [top, bottom] = [from.y + NODE.height / 2, to.y - NODE.height / 2];
    return { ...link, points: [{ x: from.x, y: top }, { x: from.x, y: top + 16 }, { x: to.x, y: bottom - 16 }, { x: to.x, y: bottom }] };
  });
  return { nodes, edges, width, height: y - NODE.height / 2 - GAP.y + 24 };
}

function mean(values: number[], otherwise: number): number {
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : otherwise;
}

/** A line through points, with softened corners. */
export function pathOf(points: Point[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  const round = (value: number) => Math.round(value * 10) / 10;
  let text = `M${round(first.x)},${round(first.y)}`;
  rest.forEach((point, index) => {
    const next = rest[index + 1];
    if (!next) text += `L${round(point.x)},${round(point.y)}`;
    else text += `Q${round(point.x)},${round(point.y)} ${round((point.x + next.x) / 2)},${round((point.y + next.y) / 2)}`;
  });
  return text;
}

export interface View { x: number; y: number; scale: number }

/** The view in which everything is seen, at most in its own size. */
export function fit(width: number, height: number, room: { width: number; height: number }): View {
  const scale = Math.min(1, room.width / Math.max(width, 1), room.height / Math.max(height, 1));
  const readable = Math.max(scale, 0.02);
  return { scale: readable, x: (room.width - width * readable) / 2, y: Math.max(0, (room.height - height * readable) / 2) };
}

/** Nearer or further, with the point under the hand staying where it is. */
export function zoomed(view: View, factor: number, at: Point): View {
  const scale = Math.min(3, Math.max(0.02, view.scale * factor));
  const real = scale / view.scale;
  return { scale, x: at.x - (at.x - view.x) * real, y: at.y - (at.y - view.y) * real };
}
