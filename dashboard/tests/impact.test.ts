import { expect, test } from "vitest";
import { counted, mappingOf, workOf } from "../src/pages/impact/impact-words";

test("new ids are pairs in any order, and what is no pair is left out", () => {
  expect(mappingOf("  a=b, wait=wait_for_answer\nc=d ")).toEqual({ a: "b", wait: "wait_for_answer", c: "d" });
  expect(mappingOf("a b= =c d=e=f")).toEqual({});
});

test("work is counted in words", () => {
  expect(counted(1, "state")).toBe("1 state");
  expect(counted(12345, "instance")).toBe("12,345 instances");
  expect(workOf({ steps: 2, instances: 0 })).toBe("2 steps");
  expect(workOf({ steps: 1, instances: 3 })).toBe("1 step, 3 instances");
});
