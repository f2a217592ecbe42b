// An outcome event for people: its word with a tone and a sign, and what it says of the step.
import type { OutcomeEvent } from "../../api/shapes";
import { wordsOf } from "../../history/slider-positions";
import { signOf, type Tone, toneOf } from "../../parts/state-badge";

/** The state whose tone and sign an event has; others are quiet. */
const LIKE: Record<string, string> = {
  DurableTaskStarted: "started", StepStarted: "started", StepCompleted: "completed", StepFailed: "failed", StepSkipped: "skipped", Parked: "parked",
  Resumed: "started", TimerFired: "started", ExternalSignalReceived: "started", CorrelationFailed: "dead_letter", Escalated: "escalated",
  Reminded: "escalated", RetriesExhausted: "failed", IncidentCreated: "incident", IncidentResolved: "completed", Cancelled: "cancelled",
  CompensationStarted: "compensated", CompensationStep: "compensated", CompensationCompleted: "compensated", CompensationFailed: "failed",
};
const AWAITED: Record<string, string> = { HumanGate: "a person", ExternalSignal: "an answer from outside", Timer: "the time", Suspended: "somebody who resumes it" };

export interface OutcomeWords {
  word: string;
  tone: Tone;
  sign: string;
  /** What is awaited, or was; empty for events that are no wait. */
  awaited: string;
  sentence: string;
}

export function outcomeWords(event: OutcomeEvent): OutcomeWords {
  const isResult = event.event === "ExecutionResult";
  const like = isResult ? (event.kind === "ok" ? "completed" : "failed") : (LIKE[event.event] ?? "");
  const waits = { Parked: "waits for", Resumed: "waited for" }[event.event];
  const awaited = waits ? `${waits} ${AWAITED[event.kind] ?? event.kind}` : "";
  const said = [event.sub_verb === event.verb ? "" : event.sub_verb, awaited || isResult ? "" : event.kind, event.reason || event.error?.message];
  return {
    word: wordsOf(isResult ? like : event.event), tone: toneOf(like), sign: signOf(like), awaited, sentence: said.filter(Boolean).join(": "),
  };
}
