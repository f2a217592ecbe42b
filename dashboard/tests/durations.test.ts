import { expect, test } from "vitest";
import { parseDuration, sayDuration } from "../src/forms/durations";

test.each([
  ["P3D", "3 days"],
  ["PT1H30M", "1 hour, 30 minutes"],
  ["P1Y2M", "1 year, 2 months"],
  ["PT0.5S", "0.5 seconds"],
  ["PT0S", "no time at all"],
])("%s is %s", (text, said) => {
  expect(sayDuration(text)).toBe(said);
});

test.each(["", "P", "PT", "P1DT", "3 days", "P-1D", "PT1H "+"x"])("'%s' is no duration", (text) => {
  expect(parseDuration(text)).toBeNull();
});
