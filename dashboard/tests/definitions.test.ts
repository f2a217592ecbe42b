import { expect, test } from "vitest";
import { shapeOf } from "../src/forms/schema-shape";
import { factsOf } from "../src/pages/verb/execution-facts";
import { kindText } from "../src/pages/verb/field-types";

test.each([
  [{ type: "string", format: "uuid" }, "uuid"],
  [{ type: "integer" }, "whole number"],
  [{ enum: ["new-client", "other"] }, "one of new client, other"],
  [{ type: "array", items: { type: "string" } }, "a list: text"],
  [{}, "any JSON"],
])("%j is %s", (schema, said) => {
  expect(kindText(shapeOf(schema))).toBe(said);
});

test("how a verb is carried out is said in words, and what is not declared is left out", () => {
  const told = factsOf({ effects: "external", retry: { max_attempts: 3, backoff: "exponential", base_delay_seconds: 2 }, timeout_seconds: 1_209_600, sub_verbs: [], compensate: null });
  expect(Object.fromEntries(told)).toEqual({
    Effects: "outside: it runs again under the same key when it was cut off", Attempts: "up to 3, exponential from 2 s", "Time limit": "14 d",
  });
});
