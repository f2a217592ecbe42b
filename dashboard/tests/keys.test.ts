import { expect, test } from "vitest";
import { bodyOf, EMPTY, listOf } from "../src/pages/keys/key-request";

const NOW = Date.parse("2026-05-01T00:00:00Z");

test("a wish becomes a request with an end and without what was left empty", () => {
  expect(bodyOf({ ...EMPTY, name: " import ", principal: "importer", lifetime: "7" }, NOW)).toEqual({
    name: "import", principal: "importer", kind: "service", roles: ["viewer"], groups: [], operations: [], expires_at: "2026-05-08T00:00:00.000Z",
  });
});

test("a key that never ends says so, and patterns of verbs are a list", () => {
  expect(bodyOf({ ...EMPTY, lifetime: "", verbs: "kyc.*, ubo.*" }, NOW)).toMatchObject({ expires_at: null, verbs: ["kyc.*", "ubo.*"] });
});

test("lists are split at commas and spaces, each once", () => {
  expect(listOf(" a, b  a,,")).toEqual(["a", "b"]);
});
