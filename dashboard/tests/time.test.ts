import { describe, expect, it } from "vitest";
import { scaleOf, suitable } from "../src/pages/runbook/time-scale";
import { agoText, dueText, durationText } from "../src/parts/time-text";

const DAY = 86_400;

describe("time to scale", () => {
  it("is straight when it is linear", () => {
    const scale = scaleOf("linear", 100);
    expect([0, 25, 100, 400, -5].map(scale.at)).toEqual([0, 0.25, 1, 1, 0]);
  });
  it("shows a second beside nine days when it is logarithmic, in the same order", () => {
    const scale = scaleOf("log", 9 * DAY);
    expect(scale.at(1)).toBeGreaterThan(0.04);
    expect(scale.at(0)).toBe(0);
    expect(scale.at(9 * DAY)).toBe(1);
    expect(scale.at(3600)).toBeLessThan(scale.at(DAY));
  });
  it("has few marks that do not stand on one another", () => {
    for (const kind of ["linear", "log"] as const) {
      for (const length of [0.2, 3, 59, 600, 90_000, 9 * DAY, 400 * DAY, 4000 * DAY]) {
        const { marks } = scaleOf(kind, length);
        expect(marks.length).toBeGreaterThan(1);
        expect(marks.length).toBeLessThan(14);
        marks.slice(1).forEach((mark, index) => expect(mark.share - marks[index]!.share).toBeGreaterThan(0.05));
      }
    }
  });
  it("chooses the scale in which most can be seen", () => {
    expect(suitable([0.2, 0.3, 0.1, 9 * DAY], 9 * DAY)).toBe("log");
    expect(suitable([40, 30, 50], 120)).toBe("linear");
  });
});

describe("time in words", () => {
  it("has two units", () => {
    expect([0, 0.0002, 0.042, 0.25, 5, 65, 3600, 3 * DAY + 4 * 3600 + 61].map(durationText)).toEqual(["0 s", "1 ms", "42 ms", "0.3 s", "5 s", "1 m 5 s", "1 h", "3 d 4 h"]);
  });
  it("says what is past and what is to come", () => {
    const now = Date.parse("2030-01-01T00:00:00Z");
    expect(agoText("2029-12-31T23:00:00Z", now)).toBe("1 h ago");
    expect(dueText("2030-01-03T00:00:00Z", now)).toBe("2 d left");
    expect(dueText("2029-12-31T23:58:00Z", now)).toBe("2 m overdue");
  });
});
