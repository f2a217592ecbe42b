// What is worth knowing about how a verb is carried out, in words.
import type { Json } from "../../api/shapes";
import { durationText } from "../../parts/time-text";

type Declared = Record<string, Json>;

export function factsOf(execution: Declared): [string, string][] {
  const facts: [string, string][] = [
    ["Effects", EFFECTS[String(execution["effects"])] ?? ""],
    ["Attempts", attemptsOf(execution["retry"])],
    ["Time limit", seconds(execution["timeout_seconds"])],
    ["When that is over", text(execution["escalation"]) && `${text(execution["escalation"])} takes over`],
    ["Waits under", text(execution["correlation_key"])],
    ["Uses", list(execution["sub_verbs"]).join(", ")],
    ["Undone by", text(execution["compensate"])],
    ["Decides", execution["decision"] === true ? "what comes next in a runbook" : ""],
  ];
  return facts.filter(([, said]) => said !== "");
}

const EFFECTS: Record<string, string> = {
  none: "none: it may run as often as anybody likes", store: "in the store: they count exactly once", external: "outside: it runs again under the same key when it was cut off",
};

function attemptsOf(retry: Json | undefined): string {
  if (typeof retry !== "object" || retry === null || Array.isArray(retry) || typeof retry["max_attempts"] !== "number") return "";
  const most = retry["max_attempts"];
  return most === 1 ? "one, never again" : `up to ${most}, ${text(retry["backoff"]) || "fixed"} from ${seconds(retry["base_delay_seconds"]) || "0 s"}`;
}

function seconds(value: Json | undefined): string {
  return typeof value === "number" && value > 0 ? durationText(value) : "";
}

function text(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function list(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
