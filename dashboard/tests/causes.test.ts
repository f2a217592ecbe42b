import { expect, test } from "vitest";
import { causeOf, letterCauseOf, outcomesOf } from "../src/pages/incidents/causes";

test("a known code is told in words with what helps", () => {
  expect(causeOf("job.interrupted")).toEqual({ title: "The worker died in the middle of it", helps: expect.stringContaining("retry") });
});

test("a code nobody gave words to is shown as it is", () => {
  expect(causeOf("odd.code").title).toContain("odd.code");
  expect(causeOf("").title).toContain("no reason given");
});

test("the reason of a dead letter is told by its code, the rest kept", () => {
  expect(letterCauseOf("expired: nobody waited for it before 2026-05-01")).toMatchObject({ title: expect.stringContaining("time was up"), more: "nobody waited for it before 2026-05-01" });
  expect(letterCauseOf("unknown_key").more).toBe("");
  expect(letterCauseOf("something new")).toMatchObject({ title: "It could not be delivered", more: "something new" });
});

test("each item of a bulk retry has its own outcome", () => {
  const told = outcomesOf({ items: [{ id: "a", state: "completed" }, { id: "b", code: "access.forbidden", detail: "Expected to…" }, { id: "c", outcome: "refused", status: 404 }] });
  expect(told).toEqual([
    { id: "a", isDone: true, text: "completed" },
    { id: "b", isDone: false, text: "Expected to…" },
    { id: "c", isDone: false, text: "refused" },
  ]);
});

test("an answer of another shape has no outcomes", () => {
  expect(outcomesOf(null)).toEqual([]);
  expect(outcomesOf({})).toEqual([]);
});
