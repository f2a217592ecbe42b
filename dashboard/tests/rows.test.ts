import { describe, expect, it } from "vitest";
import type { LiveEvent, RunbookRow } from "../src/api/shapes";
import { type Known, NOTHING, pageOf, withEvent, withPage } from "../src/pages/runbooks/rows";
import { scrollToRow, spanInSight } from "../src/parts/virtual";

const row = (id: string, state = "executing", sequence = 1): RunbookRow => ({
  id, state, sequence, case: "", title: id, progress: "", steps: 1, done: 0, waiting: [], started_at: null, ended_at: null, principal: "ana",
});
const event = (id: string, state: string, sequence: number): LiveEvent => ({ cursor: "c", id, kind: "runbook", sequence, at: "", entry: "X", state });
const ids = (known: Known) => known.rows.map((each) => each.id).join("");
const first = withPage(NOTHING, "", { items: ["i", "h", "g"].map((each) => row(each)), next: "g!" });
const both = withPage(first, "g", { items: ["f", "e"].map((each) => row(each)), next: null });

describe("a list read page by page", () => {
  it("grows downward until it is whole", () => {
    expect([ids(first), first.isWhole, first.next]).toEqual(["ihg", false, "g!"]);
    expect([ids(both), both.isWhole, both.next]).toEqual(["ihgfe", true, null]);
  });
  it("takes what is new on top, and keeps what lies below", () => {
    const again = withPage(both, "", { items: ["k", "j", "i"].map((each) => row(each)), next: "i!" });
    expect([ids(again), again.isWhole]).toEqual(["kjihgfe", true]);
  });
  it("forgets what a page no longer has", () => {
    expect(ids(withPage(both, "", { items: [row("i"), row("g")], next: "g!" }))).toBe("igfe");
    expect(ids(withPage(both, "g", { items: [row("e")], next: null }))).toBe("ihge");
    expect(ids(withPage(both, "", { items: [], next: null }))).toBe("");
  });
  it("knows which page to read again for a row", () => {
    const starts = [{ from: "", after: null }, { from: "g", after: "g!" }];
    expect(pageOf(both, starts, "h")).toEqual({ from: "", after: null, limit: 3 });
    expect(pageOf(both, starts, "g")).toEqual({ from: "", after: null, limit: 3 });
    expect(pageOf(both, starts, "e")).toEqual({ from: "g", after: "g!", limit: 2 });
  });
});

describe("a list that follows what happens", () => {
  it("shows a new state at once and reads the row again", () => {
    const change = withEvent(both, event("h", "parked", 2), "");
    expect([change.known.rows[1]?.state, change.read]).toEqual(["parked", "row"]);
  });
  it("does nothing for what it already knows", () => {
    expect(withEvent(both, event("h", "parked", 1), "")).toEqual({ known: both, read: "nothing" });
  });
  it("lets a row go that no longer matches, and looks at the top for one it does not know", () => {
    expect(ids(withEvent(both, event("h", "completed", 2), "executing").known)).toBe("igfe");
    expect(withEvent(both, event("z", "executing", 1), "").read).toBe("top");
  });
});

describe("rows in sight", () => {
  it("are few, however many there are", () => {
    expect(spanInSight(50_000, 600, 50, 10_000)).toEqual({ first: 992, last: 1020 });
    expect(spanInSight(0, 600, 50, 3)).toEqual({ first: 0, last: 3 });
    expect(spanInSight(9_999, 600, 50, 0)).toEqual({ first: 0, last: 0 });
  });
  it("move as far as a row needs and no further", () => {
    expect([scrollToRow(5, 100, 200, 50), scrollToRow(1, 100, 200, 50), scrollToRow(2, 100, 200, 50)]).toEqual([100, 50, 100]);
    expect(scrollToRow(9, 100, 200, 50)).toBe(300);
  });
});
