import { expect, test } from "vitest";
import { readJson } from "../src/api/json";

test("an integer beyond 2^53 keeps its digits", () => {
  expect(readJson('{"number": 9223372036854775807, "tokens": [-9007199254740993, 2251799813685420]}')).toEqual({
    number: "9223372036854775807", tokens: ["-9007199254740993", 2251799813685420],
  });
});

test("texts and other numbers stay as they are", () => {
  const value = { text: 'of "9223372036854775807" and \\', share: 0.12345678901234567, large: 1e300, count: 3, none: null };
  expect(readJson(JSON.stringify(value))).toEqual(value);
});
