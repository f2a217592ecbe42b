import { expect, test } from "vitest";
import type { OutcomeEvent } from "../src/api/shapes";
import { outcomeWords } from "../src/pages/runbook/outcome-words";

function said(event: string, more: Partial<OutcomeEvent> = {}): string {
  const whole: OutcomeEvent = { cursor: "1", at: null, event, text: event, step: 1, verb: "kyc.open-case", kind: "", reason: "", sub_verb: "", principal: "rita", refs: {}, error: null, ...more };
  const { sign, word, sentence, awaited } = outcomeWords(whole);
  return [sign, word, sentence, awaited].filter(Boolean).join(" | ");
}

test("a wait says what is awaited, in a sentence and in the words of the page", () => {
  expect(said("Parked", { kind: "HumanGate", reason: "Awaiting rita: review the case" })).toBe("‖ | Parked | Awaiting rita: review the case | waits for a person");
  expect(said("Resumed", { kind: "Timer", reason: "3 days" })).toBe("▶ | Resumed | 3 days | waited for the time");
  expect(said("Parked", { kind: "NewKind" })).toBe("‖ | Parked | waits for NewKind");
});

test("an event of a process names the verb inside, one of the step itself does not", () => {
  expect(said("StepCompleted", { sub_verb: "kyc.request-documents" })).toBe("✓ | Step completed | kyc.request-documents");
  expect(said("StepFailed", { sub_verb: "kyc.open-case", kind: "retried", error: { failure_class: "transient", code: "DOWN", message: "nobody answers" } })).toBe("✕ | Step failed | retried: nobody answers");
});

test("an end is told by what it ended with, and a word that nobody knows yet by itself", () => {
  expect(said("ExecutionResult", { kind: "ok" })).toBe("✓ | Completed");
  expect(said("ExecutionResult", { kind: "err", reason: "it is no LEI" })).toBe("✕ | Failed | it is no LEI");
  expect(said("SomethingNew", { reason: "why" })).toBe("• | Something new | why");
});
