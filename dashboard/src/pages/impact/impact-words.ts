// The words of verdicts, and mappings as they are written.
import type { Verdict } from "../../api/process-shapes";
import type { Tone } from "../../parts/state-badge";

export const VERDICTS: Record<Verdict, readonly [Tone, string, string]> = {
  goes_on: ["good", "✓", "goes on"],
  migrates: ["busy", "→", "migrates"],
  stays_pinned: ["bad", "✕", "stays pinned"],
};

/** `old=new` words, separated by spaces or commas; what is no pair is left out. */
export function mappingOf(words: string): Record<string, string> {
  const pairs = words.split(/[\s,]+/).map((word) => word.split("="));
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => pair.length === 2 && pair[0] !== "" && pair[1] !== ""));
}

/** `2 instances`, `1 step`. */
export function counted(count: number, thing: string): string {
  return `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;
}

/** What is pinned to a text: steps of calls and runbooks, and instances. */
export function workOf(verb: { steps: number; instances: number }): string {
  const told = [[verb.steps, "step"], [verb.instances, "instance"]] as const;
  return told.filter(([count]) => count > 0).map(([count, thing]) => counted(count, thing)).join(", ");
}
