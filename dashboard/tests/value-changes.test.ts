import { expect, test } from "vitest";
import { changesOf } from "../src/pages/runbook/value-changes";

test("what differs is told field by field", () => {
  const before = { name: "A", address: { city: "Aarhus", lines: ["1"] }, gone: 1 };
  const after = { name: "B", address: { city: "Aarhus", lines: ["1", "2"] }, fresh: null };
  expect(changesOf(before, after)).toEqual([
    { path: "name", before: "A", after: "B" },
    { path: "address.lines", before: ["1"], after: ["1", "2"] },
    { path: "gone", before: 1, after: undefined },
    { path: "fresh", before: undefined, after: null },
  ]);
});

test("the same is no change, and what is no group changes as a whole", () => {
  expect(changesOf({ a: [1] }, { a: [1] })).toEqual([]);
  expect(changesOf("x", { a: 1 })).toEqual([{ path: "", before: "x", after: { a: 1 } }]);
});
