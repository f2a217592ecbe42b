import { expect, test } from "vitest";
import { answerOf } from "../src/forms/form-answer";
import { changed, draftOf } from "../src/forms/form-draft";
import { Reference } from "../src/forms/result-references";
import { shapeOf } from "../src/forms/schema-shape";

const REVIEW = shapeOf({
  required: ["outcome", "agree"],
  properties: {
    outcome: { enum: ["approved", "rejected"] },
    agree: { type: "boolean" },
    reason: { type: "string" },
    score: { type: "integer", default: 3, maximum: 5 },
    contact: { properties: { name: { type: "string" }, mail: { type: "string" } }, required: ["name"] },
    documents: { type: "array", items: { properties: { document: { type: "string" } }, required: ["document"] } },
    note: { type: ["string", "null"] },
  },
});

test("an empty draft has its defaults, and what is required is told at its path", () => {
  const answer = answerOf(REVIEW, draftOf(REVIEW));
  expect(answer.value).toEqual({ score: 3 });
  expect(answer.faults.map((fault) => fault.path)).toEqual(["$.outcome", "$.agree"]);
});

test("values become the JSON the schema wants", () => {
  let draft = draftOf(REVIEW);
  draft = changed(draft, ["outcome"], "1");
  draft = changed(draft, ["agree"], false);
  draft = changed(draft, ["score"], " 4 ");
  draft = changed(draft, ["documents"], [{ document: "register extract" }]);
  expect(answerOf(REVIEW, draft)).toEqual({
    value: { outcome: "rejected", agree: false, score: 4, documents: [{ document: "register extract" }] },
    faults: [],
  });
});

test("a group nobody touched is left out; once begun its required fields are asked for", () => {
  const begun = changed(draftOf(REVIEW), ["contact", "mail"], "a@b.example");
  expect(answerOf(REVIEW, begun).faults.map((fault) => fault.path)).toContain("$.contact.name");
  expect(answerOf(REVIEW, draftOf(REVIEW)).value).not.toHaveProperty("contact");
});

test("faults inside a list name the item", () => {
  const draft = changed(draftOf(REVIEW), ["documents"], [{ document: "x" }, { document: "" }]);
  expect(answerOf(REVIEW, draft).faults.map((fault) => fault.path)).toContain("$.documents[1].document");
});

test.each([
  [{ type: "integer" }, "1.5", "A whole number is needed."],
  [{ type: "number", minimum: 2 }, "1", "At least 2."],
  [{ type: "number" }, "many", "This is no number."],
  [{ type: "string", format: "duration" }, "3 days", "This is no duration."],
  [{ type: "string", minLength: 3 }, "ab", "At least 3 characters are needed."],
  [{ type: "number", exclusiveMinimum: 2 }, "2", "More than 2."],
  [{ type: "string", maxLength: 1 }, "🙂🙂", "At most 1 characters fit; these are 2."],
  [{ type: "string", format: "email" }, "nobody", "Write an address as in ana@example.com."],
  [{ type: "string", format: "uuid" }, "1", "Write a UUID: 32 hexadecimal digits in five groups."],
  [{}, "{not", "This is no JSON."],
])("%j refuses %s", (schema, typed, message) => {
  expect(answerOf(shapeOf(schema), typed).faults[0]?.message).toBe(message);
});

test("what may be nothing is null when it is required and empty", () => {
  expect(answerOf(shapeOf({ required: ["note"], properties: { note: { type: ["string", "null"] } } }), { note: "" }).value).toEqual({ note: null });
});

test("a moment is sent as the instant it is, wherever the browser stands", () => {
  const shape = shapeOf({ type: "string", format: "date-time" });
  const draft = draftOf(shape, "2026-05-04T10:30:00Z");
  expect(answerOf(shape, draft).value).toBe("2026-05-04T10:30:00.000Z");
});

test("a proposal filled into a form means the same again", () => {
  const proposal = { outcome: "approved", agree: true, reason: "all in order", score: 2, documents: [{ document: "a" }] };
  expect(answerOf(REVIEW, draftOf(REVIEW, proposal)).value).toEqual(proposal);
});

test("one variant is chosen and only it is sent", () => {
  const shape = shapeOf({ oneOf: [{ title: "Number", type: "integer" }, { title: "Person", properties: { name: { type: "string" } }, required: ["name"] }] });
  expect(answerOf(shape, draftOf(shape)).faults).toHaveLength(1);
  expect(answerOf(shape, { chosen: "1", inner: ["", { name: "Ada" }] }).value).toEqual({ name: "Ada" });
});

test("a change touches nothing beside it", () => {
  const before = draftOf(REVIEW) as { [name: string]: unknown };
  const after = changed(before as never, ["contact", "name"], "Ada") as { [name: string]: unknown };
  expect(after.documents).toBe(before.documents);
  expect(before.contact).not.toEqual(after.contact);
});

test("a result may stand wherever a value may, and has to be named", () => {
  const draft = changed(changed(draftOf(REVIEW), ["outcome"], new Reference("review.outcome")), ["contact"], new Reference(""));
  const answer = answerOf(REVIEW, changed(draft, ["agree"], true));
  expect(answer.value).toEqual({ outcome: { "@": "review.outcome" }, agree: true, score: 3, contact: { "@": "" } });
  expect(answer.faults.map((fault) => fault.path)).toEqual(["$.contact"]);
});

test("what does not fit yet is kept, so that it can be put right later", () => {
  const draft = changed(draftOf(REVIEW), ["score"], "many");
  const kept = answerOf(REVIEW, draft).value;
  expect(kept).toEqual({ score: "many" });
  expect(draftOf(REVIEW, kept)).toEqual(draft);
});

test("a value chooses the variant that means it", () => {
  const shape = shapeOf({ oneOf: [{ type: "integer" }, { properties: { name: { type: "string" } }, required: ["name"] }] });
  expect(draftOf(shape, { name: "Ada" })).toMatchObject({ chosen: "1" });
  expect(answerOf(shape, draftOf(shape, { name: new Reference("a.b") })).value).toEqual({ name: { "@": "a.b" } });
});
