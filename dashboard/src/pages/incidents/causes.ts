// Why something is stuck or was not delivered, in an operator's words, and what helps.
import type { Retried } from "../../api/process-shapes";

export interface Cause {
  title: string;
  helps: string;
}

const INCIDENTS: { [code: string]: Cause } = {
  "payload.schema": { title: "The work gave back something its verb does not allow", helps: "Mend the handler, then retry; or resolve it with the right result." },
  "payload.too_large": { title: "The result is larger than its verb allows", helps: "Mend the handler, then retry." },
  "record.misuse": { title: "The handler used records as its verb may not", helps: "Mend the handler, then retry." },
  "job.contract": { title: "The work broke its contract with the process", helps: "Mend the handler, then retry; or resolve it with the right result." },
  "job.retries_exhausted": { title: "Every attempt has failed", helps: "See that what it needs is there again, then retry: it gets all its attempts anew." },
  "job.interrupted": { title: "The worker died in the middle of it", helps: "Find out whether it happened outside. If not, retry; if it did, resolve it with what happened." },
  "definition.missing": { title: "No worker knows this verb any more", helps: "Start a worker that has it: it goes on by itself within half a minute." },
  "correlation.taken": { title: "Somebody else already waits under the same key", helps: "Complete or cancel the other one, then retry." },
  "escalation.invalid": { title: "The escalation does not accept what it is given", helps: "Mend its schema, then resolve." },
  "escalation.stuck": { title: "The escalation is itself stuck", helps: "Mend the escalation; or resolve this by hand." },
  "error.uncaught": { title: "A business error that nobody catches", helps: "Resolve it by hand, or give the process a way for this error and migrate." },
  "gateway.no_way_out": { title: "No way out of a gateway: no condition holds and there is no default", helps: "Correct the flag it reads, then retry." },
  "watch.invalid": { title: "A flag that gives a key or a time holds nothing that can be one", helps: "Correct the flag, then retry." },
  "iterations.invalid": { title: "A flag that gives a count holds nothing that can be one", helps: "Correct the flag, then retry." },
  "compensation.failed": { title: "Something could not be undone; the rest was", helps: "Undo it by hand and resolve, or retry." },
  "call.graver": { title: "A called process has become graver", helps: "Its start was agreed to for less: a person retries it and confirms that." },
  "call.failed": { title: "A called process did not complete", helps: "Look at the called process; then retry, or resolve by hand." },
  "call.cannot_start": { title: "A called process could not be started", helps: "Deploy it, then retry." },
  "call.erased": { title: "The data it needs was erased", helps: "Resolve it by hand, or cancel." },
  "moves.endless": { title: "Tokens went round without ever waiting", helps: "Correct a flag or move the token, then retry." },
  "arguments.invalid": { title: "What it is given does not fit the verb", helps: "Correct what the step before it gave, or resolve it by hand." },
  "decision.invalid": { title: "The decision is none that was offered", helps: "Retry, or resolve it with one of those offered." },
  "process.stuck": { title: "The process that carries it is stuck", helps: "Open the instance and mend what is stuck there." },
  "process.result": { title: "The process ended without the result its verb promises", helps: "Resolve it with the result, or mend the process and run it again." },
  "agent.budget": { title: "The agent used up what it may spend", helps: "Raise its budget, then retry; or answer for it." },
  "agent.forbidden": { title: "The agent asked for something it may not do", helps: "Answer for it, or retry." },
  "agent.unsure": { title: "The agent is not sure enough", helps: "Decide yourself." },
};

const LETTERS: { [reason: string]: Cause } = {
  unknown_key: { title: "Nobody waits, or ever waited, under this key", helps: "Replay it when the wait is there, replay it under the right key, or discard it." },
  ambiguous_key: { title: "Several wait under this key", helps: "Replay it to one of them, or let it be sent again with the verb's name." },
  blocked: { title: "Whom it is for is stuck", helps: "Close the incident, then replay it." },
  expired: { title: "Nobody waited for it before its time was up", helps: "Replay it when the wait is there, or discard it." },
  ambiguous: { title: "Several instances want it", helps: "Replay it to one of them." },
  no_subscription: { title: "Nobody waits for this message", helps: "Replay it when the wait is there, replay it under the right key, or discard it." },
};

export function causeOf(code: string): Cause {
  return INCIDENTS[code] ?? { title: `It stopped with ${code || "no reason given"}`, helps: "Retry it, or resolve it by hand." };
}

/** The reason of a dead letter begins with its code: `expired: nobody waited for it before …`. */
export function letterCauseOf(reason: string): Cause & { more: string } {
  const [code = "", ...rest] = reason.split(/[:;] ?/);
  const known = LETTERS[code.trim()];
  return known ? { ...known, more: rest.join(": ").trim() } : { title: "It could not be delivered", helps: "Replay it, perhaps under another key, or discard it.", more: reason };
}

/** What may be retried together, at most: the server answers for each by itself. */
export const MOST_AT_ONCE = 200;

export interface Outcome {
  isDone: boolean;
  text: string;
}

/** What came of each item of a bulk retry, by the name it was asked for under. */
export function outcomesOf(items: readonly Retried[]): Map<string, Outcome> {
  return new Map(items.map((item) => [item.id, outcomeOf(item)]));
}

function outcomeOf({ status, state, problem }: Retried): Outcome {
  if (status < 400 && !problem) return { isDone: true, text: state ? `tried again: ${state}` : "tried again" };
  return { isDone: false, text: problem?.detail ?? problem?.code ?? `refused (${status})` };
}
