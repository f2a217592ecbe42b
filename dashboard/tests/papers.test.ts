import { describe, expect, it } from "vitest";
import type { LifecycleVersionView, StateView } from "../src/api/paper-shapes";
import { comparedFields } from "../src/pages/document/compared-fields";
import { eventText } from "../src/pages/document/event-words";
import { sizeText } from "../src/pages/document/file-size";
import { documentOf } from "../src/pages/lifecycle/task-state";
import { blockersOf, namesOf, statesOf } from "../src/pages/lifecycles/board-columns";

function state(name: string, ...requirements: string[]): StateView {
  return { name, description: "", is_terminal: false, requirements };
}

function version(number: number, states: StateView[], isLatest = false): LifecycleVersionView {
  return { lifecycle: "onboarding", version: number, label: "", status: "active", deployed_at: "", by: "", is_latest: isLatest, states };
}

describe("the board", () => {
  const versions = [version(1, [state("OPEN", "passport"), state("OLD")]), version(2, [state("OPEN", "licence"), state("REVIEW")], true)];

  it("has the states of the latest version in their order, then those of older ones", () => {
    expect(statesOf(versions).map((each) => [each.name, each.isFormer])).toEqual([["OPEN", false], ["REVIEW", false], ["OLD", true]]);
  });

  it("offers every requirement that can block", () => {
    expect(blockersOf(versions)).toEqual(["licence", "passport"]);
    expect(namesOf(versions)).toEqual(["onboarding"]);
  });
});

describe("two versions side by side", () => {
  it("say of every field how it changed", () => {
    const fields = comparedFields({ name: "Ana", address: { city: "Oslo" }, old: 1 }, { name: "Anna", address: { city: "Oslo" }, given: [1] });
    expect(fields.map((each) => [each.path, each.change])).toEqual([["name", "changed"], ["address.city", "same"], ["old", "removed"], ["given.0", "added"]]);
  });

  it("have no fields where neither holds any", () => {
    expect(comparedFields(null, null)).toEqual([]);
  });
});

describe("words", () => {
  it("tell who read what of which version", () => {
    expect(eventText({ entry: "ContentRead", data: { number: 2, what: "blob" } })).toBe("downloaded the file of version 2");
    expect(eventText({ entry: "VersionRejected", data: { number: 1, reason: "BLURRED" } })).toBe("rejected version 1: BLURRED");
  });

  it("give sizes as people say them", () => {
    expect([sizeText(999), sizeText(12_345), sizeText(5_000_000)]).toEqual(["999 bytes", "12.3 kB", "5.0 MB"]);
  });

  it("find the document behind cargo, and nothing behind anything else", () => {
    expect(documentOf("document://default/01kdvdna00fj6rg6fv83bbnr0j")).toBe("01kdvdna00fj6rg6fv83bbnr0j");
    expect([documentOf("https://elsewhere/x"), documentOf("document://default/../x")]).toEqual([null, null]);
  });
});
