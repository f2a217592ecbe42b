import { expect, test } from "vitest";
import { shapeOf } from "../src/forms/shape";
import { kindText } from "../src/pages/verb/kinds";

test.each([
  [{ type: "string", format: "uuid" }, "uuid"],
  [{ type: "integer" }, "whole number"],
  [{ enum: ["new-client", "other"] }, "one of new client, other"],
  [{ type: "array", items: { type: "string" } }, "a list: text"],
  [{}, "any JSON"],
])("%j is %s", (schema, said) => {
  expect(kindText(shapeOf(schema))).toBe(said);
});
