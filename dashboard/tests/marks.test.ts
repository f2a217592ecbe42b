import { expect, test } from "vitest";
import { drawn, NO_MARKS, saidOf } from "../src/diagrams/marks";

const all = (): boolean => true;
const name = (element: string): string => element.toUpperCase();

test("tokens carry their count and what it means", () => {
  const found = drawn({ ...NO_MARKS, tokens: [{ element: "review", count: 2 }, { element: "gone", count: 0 }] }, all, name);
  expect(found.badges).toEqual([{ kind: "token", element: "review", text: "2", label: "2 tokens at REVIEW" }]);
  expect(found.classes.get("review")).toEqual(["mark-active"]);
});

test("several incidents of one element are one badge", () => {
  const incident = { element: "a", token: 1, code: "x", text: "no answer" };
  const found = drawn({ ...NO_MARKS, incidents: [incident, { ...incident, token: 2, text: "" }] }, all, name);
  expect(found.badges.map((badge) => [badge.text, badge.label])).toEqual([["2!", "Stuck at A: no answer; x"]]);
});

test("the path and its flows are styled, an active element on it as both", () => {
  const found = drawn({ ...NO_MARKS, path: ["a"], flows: ["f"], tokens: [{ element: "a", count: 1 }] }, all, name);
  expect(found.classes.get("a")).toEqual(["mark-passed", "mark-active"]);
  expect(found.classes.get("f")).toEqual(["mark-flow"]);
});

test("what went round is counted, what was done once is not", () => {
  const found = drawn({ ...NO_MARKS, completed: [{ element: "a", count: 1 }, { element: "b", count: 12_345 }] }, all, name);
  expect(found.badges.map((badge) => badge.text)).toEqual(["×12k"]);
});

test("findings show their codes, an error before warnings", () => {
  const finding = { element: "a", code: "HOL001", severity: "warning", fact: "odd" };
  const found = drawn({ ...NO_MARKS, findings: [finding, { ...finding, code: "BPM002", severity: "error" }, { ...finding, code: "C" }] }, all, name);
  expect(found.badges[0]).toMatchObject({ kind: "finding-error", text: "HOL001 BPM002 +1" });
});

test("what the picture does not show is told apart", () => {
  const found = drawn({ ...NO_MARKS, tokens: [{ element: "hidden", count: 1 }] }, () => false, name);
  expect(found.badges).toEqual([]);
  expect(found.unplaced).toHaveLength(1);
});

test("the state of the picture is said in words", () => {
  expect(saidOf({ ...NO_MARKS, tokens: [{ element: "a", count: 3 }], incidents: [{ element: "b", token: 1, code: "", text: "" }] }, name)).toBe("Tokens at A (3). Stuck at B.");
  expect(saidOf(NO_MARKS, name)).toBe("No tokens.");
});
