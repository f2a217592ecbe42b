// A runbook as it is being put together: calls with their arguments, and what may refer to what. Pure.
import type { Json, Schema } from "../../api/shapes";
import { type Answer, answerOf } from "../../forms/form-answer";
import { type Draft, draftOf } from "../../forms/form-draft";
import { type Given, isRecord, Reference } from "../../forms/result-references";
import { type Shape, shapeOf } from "../../forms/schema-shape";

/** `args` are as they were read; once somebody has typed into its form, `draft` says what they are. */
export interface Call { key: number; verb: string; name: string; args: Given; draft: Draft | null; after: string[]; on_failure: string; gate: string; section: string }

export function freshCall(key: number, verb: string, taken: string[]): Call {
  return { key, verb, name: freshName(verb, taken), args: {}, draft: null, after: [], on_failure: "stop", gate: "", section: "" };
}

const RESERVED = new Set(["let", "exec", "if", "then", "else", "end", "after", "on", "failure", "gate", "and", "or", "not", "in", "true", "false", "null", "nil"]);
const NAME = /^[A-Za-z][A-Za-z0-9_-]*$/;

export function freshName(verb: string, taken: string[]): string {
  const last = verb.slice(verb.lastIndexOf(".") + 1).replace(/-/g, "_");
  const base = RESERVED.has(last.toLowerCase()) ? `${last}_1` : last;
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base}_${number}`;
    if (!taken.includes(name)) return name;
  }
}

export function nameFault(name: string, others: string[]): string {
  if (!NAME.test(name)) return "A name begins with a letter and has letters, digits, hyphens and underscores.";
  if (RESERVED.has(name.toLowerCase())) return "That word belongs to the language.";
  return others.includes(name) ? "Another step has that name." : "";
}

/** What is typed into the form of a call. */
export function draftFor(call: Call, shape: Shape): Draft {
  return call.draft ?? draftOf(shape, shape.kind === "raw" && isRecord(call.args) && Object.keys(call.args).length === 0 ? undefined : call.args);
}

/** The arguments of a call. What its verb does not declare stays as it was read, until the verb refuses it. */
export function argsOf(call: Call, shape: Shape): Answer {
  const answer = answerOf(shape, draftFor(call, shape), shape.kind !== "raw");
  if (shape.kind !== "group" || !isRecord(call.args)) return { ...answer, value: answer.value ?? {} };
  const declared = new Set(shape.fields.map((field) => field.name));
  const others = Object.entries(call.args).filter(([name]) => !declared.has(name));
  return { ...answer, value: { ...(answer.value as { [name: string]: Json }), ...(plain(Object.fromEntries(others)) as { [name: string]: Json }) } };
}

/** The calls as the server takes them: `{"@": "case.id"}` stands for a part of a result. */
export function asJson(calls: Call[], shapeFor: (verb: string) => Shape | undefined): Json[] {
  return calls.map((call) => {
    const shape = shapeFor(call.verb);
    const args = shape ? (argsOf(call, shape).value ?? {}) : plain(call.args ?? {});
    const told: { [key: string]: Json } = { verb: call.verb, name: call.name, args };
    if (call.after.length) told["after"] = call.after;
    if (call.on_failure !== "stop") told["on_failure"] = call.on_failure;
    if (call.gate) told["gate"] = call.gate;
    if (call.section) told["section"] = call.section;
    return told;
  });
}

function plain(value: Given): Json {
  return JSON.parse(JSON.stringify(value ?? null)) as Json;
}

/** A draft's document as calls; null when it holds choices, which forms do not show. */
export function fromDocument(document: Json): Call[] | null {
  const entries = (document as { entries?: Entry[] } | null)?.entries ?? [];
  if (entries.some((entry) => !entry.verb || entry.condition || entry.branches?.length || entry.alternative)) return null;
  return entries.filter((entry) => entry.status !== "disabled").map((entry, index) => ({
    key: index + 1, verb: entry.verb, name: entry.name, args: withReferences(entry.args ?? {}, entry.references ?? []), draft: null, after: entry.after ?? [],
    on_failure: entry.on_failure ?? "stop", gate: entry.gate ?? "", section: entry.section ?? "",
  }));
}

interface Place { at: (string | number)[]; step: string; path?: (string | number)[] }
interface Entry {
  name: string; verb: string; args?: { [key: string]: Json }; references?: Place[]; after?: string[]; condition?: Json; branches?: Json[]; alternative?: string;
  status?: string; on_failure?: string; gate?: string; section?: string;
}

function withReferences(args: { [key: string]: Json }, references: Place[]): Given {
  const copy = structuredClone(args) as { [key: string]: Given };
  for (const { at, step, path } of references) {
    let inside = copy as unknown as Record<string | number, Given>;
    for (const part of at.slice(0, -1)) inside = inside[part] as unknown as Record<string | number, Given>;
    const last = at.at(-1);
    if (last !== undefined && inside) inside[last] = new Reference([step, ...(path ?? [])].join("."));
  }
  return copy;
}

/** What a form may refer to of a step: its whole result, and each part its schema promises. */
export function pathsOf(name: string, output: Schema | null, depth = 3): string[] {
  if (!output) return [name];
  const walk = (shape: Shape, path: string, left: number): string[] => {
    const inner = left > 0 && shape.kind === "group" ? shape.fields.flatMap((each) => walk(each.shape, `${path}.${each.name}`, left - 1)) : [];
    return [path, ...inner];
  };
  return walk(shapeOf(output), name, depth);
}

/** A step with another name, and everything that refers to it. */
export function renamed(calls: Call[], from: string, to: string): Call[] {
  const change = <T extends Given | Draft>(value: T): T => {
    if (value instanceof Reference) return (value.path === from || value.path.startsWith(`${from}.`) ? new Reference(to + value.path.slice(from.length)) : value) as T;
    if (Array.isArray(value)) return value.map(change) as T;
    return isRecord(value) ? (Object.fromEntries(Object.entries(value).map(([key, each]) => [key, change(each as Given)])) as T) : value;
  };
  const after = (names: string[]) => names.map((each) => (each === from ? to : each));
  return calls.map((call) => ({ ...call, name: call.name === from ? to : call.name, args: change(call.args), draft: change(call.draft), after: after(call.after) }));
}

export function moved(calls: Call[], index: number, step: number): Call[] {
  const target = index + step;
  if (target < 0 || target >= calls.length) return calls;
  const copy = [...calls];
  const [call] = copy.splice(index, 1);
  if (call) copy.splice(target, 0, call);
  return copy;
}

/** The number of the step that a problem's place names: `<calls>:2:1`. */
export function stepOf(place: string): number {
  return Number(/:(\d+):\d+$/.exec(place)?.[1] ?? 0);
}
