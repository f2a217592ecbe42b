import { expect, test } from "vitest";
import { draftOf } from "../src/forms/form-draft";
import { faultsByPlace, placesOf } from "../src/forms/field-faults";
import { above, fieldId, pathText } from "../src/forms/value-paths";
import { shapeOf } from "../src/forms/schema-shape";

const SHAPE = shapeOf({
  properties: { outcome: { type: "string" }, documents: { type: "array", items: { properties: { name: { type: "string" } } } }, extra: {} },
});

test("a fault stands beside its field", () => {
  const places = placesOf(SHAPE, draftOf(SHAPE, { documents: [{ name: "a" }] }));
  const found = faultsByPlace([{ path: "$.documents[0].name", message: "no" }], places);
  expect([...found.keys()]).toEqual(["$.documents[0].name"]);
});

test("a fault deeper than the form shows stands at what is nearest", () => {
  const found = faultsByPlace([{ path: "$.extra.deep[3]", message: "no" }], placesOf(SHAPE, draftOf(SHAPE)));
  expect([...found.keys()]).toEqual(["$.extra"]);
});

test("a fault of no field in sight stands on top and names what it is about", () => {
  const found = faultsByPlace([{ path: "$.unknown", message: "it is not a known field" }], placesOf(SHAPE, draftOf(SHAPE)));
  expect(found.get("$")?.[0]?.message).toBe("unknown: it is not a known field");
});

test("paths are written as the server writes them", () => {
  expect(pathText(["documents", 0, "register-extract"])).toBe("$.documents[0].register-extract");
  expect(pathText(["odd name"])).toBe("$['odd name']");
  expect(above("$['odd.name']")).toBe("$");
  expect(above("$.a[2]")).toBe("$.a");
});

test("two places never share an id", () => {
  expect(fieldId("f", ["a b"])).not.toBe(fieldId("f", ["a-b"]));
  expect(fieldId("f", ["a", 1])).toBe("f-a-1");
});
