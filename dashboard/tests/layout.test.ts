import { describe, expect, it } from "vitest";
import { fit, type Linked, linksOf, NODE, pathOf, shapeOf, zoomed } from "../src/pages/runbook/graph-geometry";
import { place } from "../src/pages/runbook/graph-layout";

const steps: Linked[] = [
  { name: "a" }, { name: "b", needs: ["a"] }, { name: "c", needs: ["a"], after: ["b", "a"] }, { name: "choice", needs: ["c"] }, { name: "d", branch: { choice: false } }, { name: "e", needs: ["gone"] },
];

describe("the lines of a plan", () => {
  it("are of three kinds, at most one between two steps, none to what is not there", () => {
    expect(linksOf(steps).map((link) => `${link.from}>${link.to} ${link.kind} ${link.label}`.trim())).toEqual([
      "a>b data", "a>c data", "b>c sequence", "c>choice data", "choice>d choice no",
    ]);
  });
  it("keep their shape when only states change", () => {
    expect(shapeOf(steps.map((step) => ({ ...step, state: "failed" })))).toBe(shapeOf(steps));
    expect(shapeOf([...steps, { name: "f", needs: ["e"] }])).not.toBe(shapeOf(steps));
  });
});

describe("a layout", () => {
  it("puts what comes later further down and nothing on top of another", () => {
    const placed = place(steps.map((step) => step.name), linksOf(steps));
    for (const link of placed.edges) expect(placed.nodes[link.to]!.y).toBeGreaterThan(placed.nodes[link.from]!.y);
    const points = Object.values(placed.nodes);
    for (const [index, one] of points.entries()) {
      for (const other of points.slice(index + 1)) expect(Math.abs(one.x - other.x) >= NODE.width || Math.abs(one.y - other.y) >= NODE.height).toBe(true);
    }
  });
  it("manages five hundred steps", () => {
    const many: Linked[] = Array.from({ length: 500 }, (_, index) => ({ name: `s${index}`, needs: index ? [`s${Math.floor((index - 1) / 3)}`, `s${Math.max(0, index - 7)}`] : [] }));
    expect(Object.keys(place(many.map((step) => step.name), linksOf(many)).nodes)).toHaveLength(500);
  });
});

describe("a view", () => {
  it("shows all of a plan, never larger than it is", () => {
    expect(fit(1000, 500, { width: 500, height: 500 })).toEqual({ scale: 0.5, x: 0, y: 125 });
    expect(fit(100, 100, { width: 500, height: 500 }).scale).toBe(1);
  });
  it("keeps the point under the hand where it is", () => {
    const view = zoomed({ x: 10, y: 20, scale: 1 }, 2, { x: 110, y: 120 });
    expect(view).toEqual({ scale: 2, x: -90, y: -80 });
    expect(zoomed(view, 1000, { x: 0, y: 0 }).scale).toBe(3);
  });
});

it("draws a line through its points", () => {
  expect(pathOf([{ x: 0, y: 0 }, { x: 10, y: 0 }, { x: 10, y: 20 }])).toBe("M0,0Q10,0 10,10L10,20");
  expect(pathOf([])).toBe("");
});
