import { describe, expect, it } from "vitest";
import type { LiveEvent, RunbookRow } from "../src/api/shapes";
import { type Known, NOTHING, pageOf, withEvent, withPage } from "../src/pages/runbooks/list-cache";
import { scrollToRow, spanInSight } from "../src/lists/visible-rows";

const row = (id: string, state = "executing", sequence = 1): RunbookRow => ({
  id, state, sequence, case: "", title: id, progress: "", steps: 1, done: 0, waiting: [], started_at: null, ended_at: null, principal: "ana",
});
const event = (id: string, state: string, sequence: number): LiveEvent => ({ cursor: "c", id, kind: "runbook", sequence, at: "", entry: "X", state });
const ids = (known: Known) => known.rows.map((each) => each.id).join("");
const TOP = { behind: "", after: null };
const some = (names: string, next: string | null) => ({ items: [...names].map((each) => row(each)), next });
const first = withPage(NOTHING, TOP, some("xbq", "1"));
const both = withPage(first, { behind: "q", after: "1" }, some("fe", null));

describe("a list read page by page", () => {
  it("grows downward in the server's order until it is whole", () => {
    expect([ids(first), first.isWhole, first.next]).toEqual(["xbq", false, "1"]);
    expect([ids(both), both.isWhole, both.next]).toEqual(["xbqfe", true, null]);
  });
  it("takes what is new on top, and keeps what lies below", () => {
    const again = withPage(both, TOP, some("zaxb", "2"));
    expect([ids(again), again.isWhole]).toEqual(["zaxbqfe", true]);
  });
  it("begins anew when so much is new that nothing is known in between", () => {
    const again = withPage(both, TOP, some("zyw", "3"));
    expect([ids(again), again.isWhole, again.next]).toEqual(["zyw", false, "3"]);
  });
  it("forgets what a page no longer has", () => {
    expect(ids(withPage(both, TOP, some("xq", "1")))).toBe("xqfe");
    expect(ids(withPage(both, { behind: "q", after: "1" }, some("e", null)))).toBe("xbqe");
    expect(ids(withPage(both, TOP, some("", null)))).toBe("");
  });
  it("knows which page to read again for a row", () => {
    expect(pageOf(both, "b")).toEqual({ ...TOP, first: 0, limit: 3 });
    expect(pageOf(both, "q")).toEqual({ ...TOP, first: 0, limit: 3 });
    expect(pageOf(both, "e")).toEqual({ behind: "q", after: "1", first: 3, limit: 2 });
  });
});

describe("a list that follows what happens", () => {
  it("shows a new state at once and reads the row again", () => {
    const change = withEvent(both, event("b", "parked", 2), "");
    expect([change.known.rows[1]?.state, change.read]).toEqual(["parked", "row"]);
  });
  it("does nothing for what it already knows", () => {
    expect(withEvent(both, event("b", "parked", 1), "")).toEqual({ known: both, read: "nothing" });
  });
  it("lets a row go that no longer matches, and looks at the top for one it does not know", () => {
    expect(ids(withEvent(both, event("b", "completed", 2), "executing").known)).toBe("xqfe");
    expect(withEvent(both, event("n", "executing", 1), "").read).toBe("top");
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
