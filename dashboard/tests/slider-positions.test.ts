import { expect, test } from "vitest";
import { indexAt, type JournalEntry, positionsOf, wordsOf } from "../src/history/slider-positions";

const name = (element: string): string => (element === "create" ? "Create the case" : element);
const entry = (sequence: number, kind: string, data: { [name: string]: unknown } = {}): JournalEntry => ({ sequence, at: null, entry: kind, command: "", principal: "", data });

const ENTRIES = [
  entry(1, "InstanceStarted"),
  entry(1, "Passed", { element: "begin" }),
  entry(1, "Entered", { number: 2, element: "create" }),
  entry(2, "JobStarted", { number: 2 }),
  entry(3, "JobCompleted", { number: 2 }),
  entry(3, "Left", { number: 2 }),
  entry(4, "IncidentRaised", { number: 2, code: "x" }),
];

test("each record is one position and says the weightiest thing that happened in it", () => {
  expect(positionsOf(ENTRIES, name).map((position) => [position.sequence, position.text])).toEqual([
    [1, "Started"],
    [2, "Began: Create the case"],
    [3, "Completed: Create the case"],
    [4, "Stuck: Create the case"],
  ]);
});

test("a position knows the elements it concerns, also by the number of a token that entered before", () => {
  expect(positionsOf(ENTRIES, name)[1]?.elements).toEqual(["create"]);
});

test("tokens and waits of the same number are told apart", () => {
  const entries = [entry(1, "Entered", { number: 2, element: "create" }), entry(1, "Armed", { number: 2, node: 1, event: "reminder" }), entry(2, "Occurred", { number: 2 })];
  expect(positionsOf(entries, name)[1]?.text).toBe("Happened: reminder");
});

test("who answered, claimed and gave back is said", () => {
  const said = [entry(1, "TaskCompleted", { by: "rita" }), entry(2, "TaskClaimed", { by: "" }), entry(3, "InstanceEnded", { status: "compensation_failed" })];
  expect(positionsOf(said, name).map((each) => each.text)).toEqual(["Answered by rita", "Given back", "Ended: compensation failed"]);
});

test("where something got stuck is marked", () => {
  expect(positionsOf(ENTRIES, name).map((position) => position.isIncident)).toEqual([false, false, false, true]);
});

test("entries of records out of order are put in order", () => {
  expect(positionsOf([...ENTRIES].reverse(), name).map((position) => position.sequence)).toEqual([1, 2, 3, 4]);
});

test("a sequence is found at the last position not after it", () => {
  const positions = positionsOf(ENTRIES.filter((each) => each.sequence !== 3), name);
  expect(indexAt(positions, 3)).toBe(1);
  expect(indexAt(positions, null)).toBe(2);
  expect(indexAt(positions, 99)).toBe(2);
  expect(indexAt([], 1)).toBe(-1);
});

test("an entry nobody gave words to is still readable", () => {
  expect(wordsOf("TimerShifted")).toBe("Timer shifted");
});
