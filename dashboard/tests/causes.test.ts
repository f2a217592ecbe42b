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
  const told = outcomesOf([
    { id: "a:1", status: 200, state: "active" },
    { id: "b:2", status: 403, state: "", problem: { detail: "Expected to…" } },
    { id: "c:3", status: 404, state: "" },
  ]);
  expect([...told]).toEqual([
    ["a:1", { isDone: true, text: "tried again: active" }],
    ["b:2", { isDone: false, text: "Expected to…" }],
    ["c:3", { isDone: false, text: "refused (404)" }],
  ]);
});
