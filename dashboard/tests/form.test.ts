import { describe, expect, it } from "vitest";
import type { Schema } from "../src/api/shapes";
import { cleaned, faultsOf, fieldOf, initialOf, pathOf, Reference } from "../src/parts/form/model";

const schema: Schema = {
  type: "object",
  required: ["name", "risk", "address"],
  $defs: { country: { type: "string", enum: ["DK", "DE"] } },
  properties: {
    name: { type: "string", minLength: 2 },
    risk: { type: "integer", minimum: 0, maximum: 5, default: 3 },
    country: { $ref: "#/$defs/country" },
    address: { type: "object", required: ["city"], properties: { city: { type: "string" }, lines: { type: "array", minItems: 1, items: { type: "string" } } } },
    notes: {},
    mail: { type: "string", format: "email" },
  },
};
const field = fieldOf(schema);

describe("a form made from a schema", () => {
  it("has a field for each property, by its kind", () => {
    expect(field.fields.map((each) => [each.name, each.kind, each.isRequired])).toEqual([
      ["name", "text", true], ["risk", "number", true], ["country", "choice", false], ["address", "object", true], ["notes", "json", false], ["mail", "text", false],
    ]);
  });
  it("begins with defaults and the shape of what is required", () => {
    expect(initialOf(field)).toEqual({ risk: 3, address: {} });
  });
  it("says what is wrong, beside the field it is wrong in", () => {
    const value = { name: "A", risk: 9.5, country: "FR", address: { lines: [""] }, mail: "x" };
    expect(faultsOf(field, value).map((each) => each.path)).toEqual(["name", "risk", "country", "address.city", "address.lines[0]", "mail"]);
  });
  it("accepts what is right", () => {
    expect(faultsOf(field, { name: "Ana", risk: 1, address: { city: "Aarhus" } })).toEqual([]);
  });
  it("asks for as many items as are needed", () => {
    const lines = fieldOf({ type: "array", minItems: 2, items: { type: "string" } });
    expect(faultsOf(lines, ["a"], "x")).toEqual([{ path: "x", message: "At least 2 are needed." }]);
  });
  it("leaves out what nobody said, and keeps what somebody did", () => {
    const value = { name: "Ana", mail: "", risk: 0, address: { city: "Aarhus", lines: [] }, notes: undefined };
    expect(cleaned(field, value)).toEqual({ name: "Ana", risk: 0, address: { city: "Aarhus", lines: [] } });
  });
  it("keeps the order of the form", () => {
    expect(Object.keys(cleaned(field, { extra: 1, risk: 0, name: "Ana", address: { city: "A" } }) as object)).toEqual(["name", "risk", "address", "extra"]);
  });
  it("takes a reference to an earlier result in place of a value", () => {
    expect(faultsOf(field, { name: new Reference("company.name"), risk: 1, address: new Reference("") }).map((each) => each.path)).toEqual(["address"]);
  });
  it("joins what allOf asks for and stops at a schema that holds itself", () => {
    const joined = fieldOf({ allOf: [{ type: "object", properties: { a: { type: "string" } }, required: ["a"] }], properties: { b: { type: "boolean" } } });
    expect(joined.fields.map((each) => each.name)).toEqual(["a", "b"]);
    const tree: Schema = { type: "object", properties: { child: { $ref: "#" } } };
    expect(() => fieldOf(tree)).not.toThrow();
  });
});

it("reads the paths of the server", () => {
  expect(["$.a.b[0]", "/a/b/0", "a.b.0", "$", ""].map(pathOf)).toEqual(["a.b[0]", "a.b[0]", "a.b[0]", "", ""]);
});
