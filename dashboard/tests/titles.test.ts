import { expect, test } from "vitest";
import { capital, titleOf } from "../src/parts/titles";

test("a business key is part of the title unless it is only an id", () => {
  expect(titleOf("kyc-open-case", "Allianz 2026")).toBe("kyc-open-case · Allianz 2026");
  expect(titleOf("kyc-open-case", "01m7hkfemefjqayx4zxctzbvb3")).toBe("kyc-open-case");
  expect(titleOf("kyc-open-case", "")).toBe("kyc-open-case");
});

test("titles begin with a capital", () => {
  expect(capital("review the case")).toBe("Review the case");
  expect(capital("")).toBe("");
});
