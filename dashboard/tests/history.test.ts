import { expect, test } from "vitest";
import { advanced, begun, redone, undone } from "../src/pages/compose/undo-history";

test("what was done is undone and done again, in order", () => {
  let history = advanced(advanced(begun("a"), "b", "", 0), "c", "", 0);
  history = undone(undone(history));
  expect(history.now).toBe("a");
  expect(undone(history)).toBe(history);
  expect(redone(redone(history)).now).toBe("c");
});

test("letters typed into one field without a pause are one change", () => {
  let history = advanced(advanced(advanced(begun(""), "h", "name", 5_000), "he", "name", 5_400), "hey", "name", 7_000);
  expect(history.past).toEqual(["", "he"]);
  history = advanced(history, "hey!", "other", 7_100);
  expect(undone(history).now).toBe("hey");
});

test("something new ends what could be done again", () => {
  const history = advanced(undone(advanced(begun(1), 2, "", 0)), 3, "", 0);
  expect([history.now, history.future, redone(history)]).toEqual([3, [], history]);
});

test("no change is none", () => {
  const history = begun("a");
  expect(advanced(history, "a", "", 0)).toBe(history);
});
