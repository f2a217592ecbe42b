import { describe, expect, it } from "vitest";
import { argsOf, asJson, type Call, freshName, fromDocument, moved, nameFault, pathsOf, renamed, stepOf } from "../src/pages/compose/composed-calls";
import { programOf } from "../src/pages/compose/program-text";
import { Reference } from "../src/forms/result-references";
import { shapeOf } from "../src/forms/schema-shape";

const call = (name: string, args: Call["args"], more: Partial<Call> = {}): Call => ({ key: 1, verb: `kyc.${name}`, name, args, draft: null, after: [], on_failure: "stop", gate: "", section: "", ...more });
const calls = [call("company", { name: "A", note: "" }), call("case", { company: new Reference("company.id"), tags: [new Reference("company.name"), "x"] }, { after: ["company"], gate: "compliance", on_failure: "ask" })];
const shape = shapeOf({ type: "object", required: ["name"], properties: { name: { type: "string" }, note: { type: "string" } } });

describe("a composition", () => {
  it("is sent as calls, with references and without what was left empty", () => {
    expect(asJson(calls, (verb) => (verb === "kyc.company" ? shape : undefined))).toEqual([
      { verb: "kyc.company", name: "company", args: { name: "A" } },
      { verb: "kyc.case", name: "case", args: { company: { "@": "company.id" }, tags: [{ "@": "company.name" }, "x"] }, after: ["company"], on_failure: "ask", gate: "compliance" },
    ]);
  });
  it("says what was typed, and loses nothing of what it was read with", () => {
    const typed = call("company", { name: "A", unknown: { deep: new Reference("x.y") } }, { draft: { name: new Reference("case.name"), note: "hm" } });
    expect(asJson([typed], () => shape)[0]).toMatchObject({ args: { name: { "@": "case.name" }, note: "hm", unknown: { deep: { "@": "x.y" } } } });
    expect(asJson(renamed([typed], "case", "file"), () => shape)[0]).toMatchObject({ args: { name: { "@": "file.name" } } });
  });
  it("asks nothing of a verb that declares nothing", () => {
    expect(argsOf(call("open", {}), shapeOf({}))).toEqual({ value: {}, faults: [] });
  });
  it("comes back from a draft as it went in", () => {
    const document = { entries: [{ name: "case", verb: "kyc.case", args: { company: null, tags: [null, "x"] }, references: [{ at: ["company"], step: "company", path: ["id"] }, { at: ["tags", 0], step: "company", path: ["names", 0] }], after: ["company"], gate: "compliance" }] };
    const back = fromDocument(document);
    expect(asJson(back ?? [], () => undefined)).toEqual([{ verb: "kyc.case", name: "case", args: { company: { "@": "company.id" }, tags: [{ "@": "company.names.0" }, "x"] }, after: ["company"], gate: "compliance" }]);
  });
  it("with a choice is for the text, not for forms", () => {
    expect(fromDocument({ entries: [{ name: "choice", verb: "", condition: { type: "test" } }] })).toBeNull();
  });
  it("is written as a program", () => {
    const text = programOf(asJson(calls, () => undefined));
    expect(text).toContain('LET company = EXEC kyc.company(\n    name: "A"');
    expect(text).toContain("company: company.id");
    expect(text).toContain('AFTER company ON FAILURE ask GATE "compliance"');
    expect(programOf([{ verb: "a.b", name: "x", args: { s: "q\"\b", n: 1e-7, m: { "odd key": null }, r: { "@": "y.list.0" } } }])).toContain('s: "q\\"\\u0008",\n    n: 0.0000001,\n    m: {"odd key": null},\n    r: y.list[0]');
  });
});

describe("names of steps", () => {
  it("come from the verb and are each their own", () => {
    expect([freshName("kyc.open-case", []), freshName("kyc.open-case", ["open_case", "open_case_2"]), freshName("x.end", [])]).toEqual(["open_case", "open_case_3", "end_1"]);
  });
  it("are refused when they cannot be", () => {
    expect(["a", "1a", "let", "b"].map((name) => nameFault(name, ["b"]) !== "")).toEqual([false, true, true, true]);
  });
  it("change wherever they are used", () => {
    const [, second] = renamed(calls, "company", "client");
    expect(second?.after).toEqual(["client"]);
    expect(asJson([second as Call], () => undefined)[0]).toMatchObject({ args: { company: { "@": "client.id" }, tags: [{ "@": "client.name" }, "x"] } });
  });
});

it("offers what a result promises", () => {
  expect(pathsOf("case", { type: "object", properties: { id: { type: "string" }, owner: { type: "object", properties: { name: { type: "string" } } } } })).toEqual(["case", "case.id", "case.owner", "case.owner.name"]);
  expect(pathsOf("case", null)).toEqual(["case"]);
});

it("moves steps and knows which one a problem means", () => {
  expect(moved(calls, 0, 1).map((each) => each.name)).toEqual(["case", "company"]);
  expect(moved(calls, 0, -1)).toBe(calls);
  expect([stepOf("<calls>:2:1"), stepOf("name")]).toEqual([2, 0]);
});
