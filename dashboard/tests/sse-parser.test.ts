import { describe, expect, it } from "vitest";
import { backoff, SentParser } from "../src/live/sse-parser";

describe("a stream of events", () => {
  it("is read whatever pieces it comes in", () => {
    const text = ": hello\n\nid: 7\nevent: StepCompleted\ndata: {\"a\":1}\n\nid: 8\r\ndata: x\r\ndata: y\r\n\r\n";
    const wanted = [{ id: "7", event: "StepCompleted", data: '{"a":1}' }, { id: "8", event: "", data: "x\ny" }];
    for (let size = 1; size <= text.length; size++) {
      const parser = new SentParser();
      const found = [];
      for (let at = 0; at < text.length; at += size) found.push(...parser.push(text.slice(at, at + size)));
      expect(found).toEqual(wanted);
    }
  });
  it("gives nothing for what is not complete", () => {
    expect(new SentParser().push("id: 1\ndata: x\n")).toEqual([]);
  });
});

it("waits longer each time, never more than fifteen seconds, never in step with others", () => {
  expect([0, 1, 2, 9, 99].map((attempt) => backoff(attempt, 1))).toEqual([500, 1000, 2000, 15000, 15000]);
  expect(backoff(3, 0)).toBe(2000);
});
