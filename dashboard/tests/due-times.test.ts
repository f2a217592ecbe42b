import { expect, test } from "vitest";
import { clockOf, ladderOf, span } from "../src/time/due-times";

const START = "2026-05-01T00:00:00Z";
const DUE = "2026-05-11T00:00:00Z";
const at = (text: string): number => Date.parse(text);

test("time to go is told while there is plenty", () => {
  expect(clockOf(DUE, START, at("2026-05-03T00:00:00Z"))).toEqual({ urgency: "calm", text: "due in 8 days", gone: 0.2 });
});

test("the last fifth of the time is soon", () => {
  expect(clockOf(DUE, START, at("2026-05-09T12:00:00Z"))).toMatchObject({ urgency: "soon", text: "due in 1 day 12 hours" });
});

test("past the due time it is overdue", () => {
  expect(clockOf(DUE, START, at("2026-05-11T03:20:00Z"))).toEqual({ urgency: "overdue", text: "overdue by 3 hours 20 minutes", gone: 1 });
});

test("without a due time, or with one nobody can read, there is no clock", () => {
  expect(clockOf(null, START, 0).urgency).toBe("none");
  expect(clockOf("soonish", START, 0).urgency).toBe("none");
});

test("the next rung of a ladder is the first that was not climbed", () => {
  const ladder = [
    { at: "2026-05-02T00:00:00Z", act: "remind", to: "", is_done: true },
    { at: "2026-05-04T00:00:00Z", act: "reassign", to: "user:olga", is_done: false },
  ];
  const found = ladderOf(ladder, START, at("2026-05-03T00:00:00Z"));
  expect(found.next).toBe(1);
  expect(found.rungs.map((rung) => [rung.text, rung.clock.text])).toEqual([["Remind whoever has it", "done"], ["Give it to olga", "due in 1 day"]]);
});

test.each([
  [30_000, "less than a minute"],
  [60_000, "1 minute"],
  [3_660_000, "1 hour 1 minute"],
  [12 * 86_400_000 + 3_600_000, "12 days"],
])("%d ms are %s", (milliseconds, text) => {
  expect(span(milliseconds)).toBe(text);
});
