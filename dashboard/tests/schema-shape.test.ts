import { expect, test } from "vitest";
import { labelOf, shapeOf } from "../src/forms/schema-shape";

test("an object becomes fields in the order of its properties, required ones marked", () => {
  const shape = shapeOf({
    type: "object",
    required: ["outcome"],
    properties: { outcome: { type: "string", enum: ["approved", "sent-back"] }, risk_score: { type: "integer", minimum: 1, maximum: 9 } },
  });
  expect(shape).toMatchObject({
    kind: "group",
    fields: [
      { name: "outcome", isRequired: true, shape: { kind: "choice", title: "Outcome", options: [{ label: "approved" }, { value: "sent-back", label: "sent back" }] } },
      { name: "risk_score", isRequired: false, shape: { kind: "number", isInteger: true, minimum: 1, maximum: 9, title: "Risk score" } },
    ],
  });
});

test("a schema without a type that has properties is an object, as verbs are declared", () => {
  expect(shapeOf({ required: ["a"], properties: { a: { type: "boolean" } } })).toMatchObject({ kind: "group", fields: [{ shape: { kind: "yes-no" } }] });
});

test.each(["date", "date-time", "duration", "uuid"])("text of the format %s keeps it", (format) => {
  expect(shapeOf({ type: "string", format })).toMatchObject({ kind: "text", format });
});

test("a format nobody knows is plain text", () => {
  expect(shapeOf({ type: "string", format: "lei" })).toMatchObject({ kind: "text", format: "" });
});

test.each([
  [{ type: ["string", "null"] }, "text"],
  [{ oneOf: [{ type: "integer" }, { type: "null" }] }, "number"],
  [{ anyOf: [{ type: "null" }, { type: "boolean" }] }, "yes-no"],
])("%j may be nothing", (schema, kind) => {
  expect(shapeOf(schema)).toMatchObject({ kind, isNullable: true });
});

test("branches that are constants are a choice with their titles", () => {
  const shape = shapeOf({ oneOf: [{ const: "yes", title: "Agree" }, { const: "no", title: "Refuse" }] });
  expect(shape).toMatchObject({ kind: "choice", options: [{ value: "yes", label: "Agree" }, { value: "no", label: "Refuse" }] });
});

test("branches that are forms are variants with a label each", () => {
  const shape = shapeOf({ oneOf: [{ title: "A person", properties: { name: { type: "string" } } }, { type: "string" }] });
  expect(shape).toMatchObject({ kind: "variants", variants: [{ label: "A person", shape: { kind: "group" } }, { label: "Text" }] });
});

test("lists hold the shape of one item; unique choices are ticked", () => {
  expect(shapeOf({ type: "array", items: { properties: { document: { type: "string" } } }, minItems: 1 }, "Documents")).toMatchObject({ kind: "list", least: 1, item: { kind: "group", title: "Document" } });
  expect(shapeOf({ type: "array", uniqueItems: true, items: { enum: ["a", "b"] } })).toMatchObject({ kind: "many" });
});

test("references inside the schema are followed; a schema that holds itself ends in JSON", () => {
  const schema = { $defs: { person: { properties: { name: { type: "string" }, boss: { $ref: "#/$defs/person" } } } }, $ref: "#/$defs/person" };
  let shape = shapeOf(schema);
  let depth = 0;
  while (shape.kind === "group") {
    shape = shape.fields.find((field) => field.name === "boss")!.shape;
    depth += 1;
  }
  expect(shape.kind).toBe("raw");
  expect(depth).toBeLessThan(20);
});

test("a reference to itself and one to elsewhere ask for JSON", () => {
  expect(shapeOf({ $defs: { a: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" }).kind).toBe("raw");
  expect(shapeOf({ $ref: "https://elsewhere.example/schema" }).kind).toBe("raw");
});

test("all of several parts is one form", () => {
  const shape = shapeOf({ allOf: [{ properties: { a: { type: "string" } }, required: ["a"] }, { properties: { b: { type: "string" } } }] });
  expect(shape).toMatchObject({ kind: "group", fields: [{ name: "a", isRequired: true }, { name: "b", isRequired: false }] });
});

test("no schema at all asks for JSON", () => {
  expect(shapeOf(null).kind).toBe("raw");
});

test("names are read as people read them", () => {
  expect(labelOf("case_type")).toBe("Case type");
  expect(labelOf("orch_review_outcome")).toBe("Review outcome");
});
