// A runbook as it is being put together: calls with their arguments, and what may refer to what. Pure.
import type { Json, Schema } from "../../api/shapes";
import { cleaned, type Field, fieldOf, Reference, type Value } from "../../parts/form/model";

export interface Call { key: number; verb: string; name: string; args: Value; after: string[]; on_failure: string; gate: string; section: string }

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

/** The calls as the server takes them: `{"@": "case.id"}` stands for a part of a result. */
export function asJson(calls: Call[], fieldFor: (verb: string) => Field | undefined): Json[] {
  return calls.map((call) => {
    const field = fieldFor(call.verb);
    const args = field ? cleaned(field, call.args) : call.args;
    const told: { [key: string]: Json } = { verb: call.verb, name: call.name, args: plain(args ?? {}) };
    if (call.after.length) told["after"] = call.after;
    if (call.on_failure !== "stop") told["on_failure"] = call.on_failure;
    if (call.gate) told["gate"] = call.gate;
    if (call.section) told["section"] = call.section;
    return told;
  });
}

function plain(value: Value): Json {
  if (value instanceof Reference) return { "@": value.path };
  if (Array.isArray(value)) return value.map((each) => plain(each));
  if (value === undefined || value === null) return null;
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined).map(([name, each]) => [name, plain(each)]));
}

/** A draft's document as calls; null when it holds choices, which forms do not show. */
export function fromDocument(document: Json): Call[] | null {
  const entries = (document as { entries?: Entry[] } | null)?.entries ?? [];
  if (entries.some((entry) => !entry.verb || entry.condition || entry.branches?.length || entry.alternative)) return null;
  return entries.filter((entry) => entry.status !== "disabled").map((entry, index) => ({
    key: index + 1, verb: entry.verb, name: entry.name, args: withReferences(entry.args ?? {}, entry.references ?? []), after: entry.after ?? [],
    on_failure: entry.on_failure ?? "stop", gate: entry.gate ?? "", section: entry.section ?? "",
  }));
}

interface Place { at: (string | number)[]; step: string; path?: (string | number)[] }
interface Entry {
  name: string; verb: string; args?: { [key: string]: Json }; references?: Place[]; after?: string[]; condition?: Json; branches?: Json[]; alternative?: string;
  status?: string; on_failure?: string; gate?: string; section?: string;
}

function withReferences(args: { [key: string]: Json }, references: Place[]): Value {
  const copy = structuredClone(args) as unknown as { [key: string]: Value };
  for (const { at, step, path } of references) {
    let inside = copy as unknown as Record<string | number, Value>;
    for (const part of at.slice(0, -1)) inside = inside[part] as unknown as Record<string | number, Value>;
    const last = at.at(-1);
    if (last !== undefined && inside) inside[last] = new Reference([step, ...(path ?? [])].join("."));
  }
  return copy;
}

/** What a form may refer to of a step: its whole result, and each part its schema promises. */
export function pathsOf(name: string, output: Schema | null, depth = 3): string[] {
  if (!output) return [name];
  const walk = (field: Field, path: string, left: number): string[] => {
    const inner = left > 0 ? field.fields.flatMap((each) => walk(each, `${path}.${each.name}`, left - 1)) : [];
    return [path, ...inner];
  };
  return walk(fieldOf(output), name, depth);
}

/** A step with another name, and everything that refers to it. */
export function renamed(calls: Call[], from: string, to: string): Call[] {
  const change = (value: Value): Value => {
    if (value instanceof Reference) return value.path === from || value.path.startsWith(`${from}.`) ? new Reference(to + value.path.slice(from.length)) : value;
    if (Array.isArray(value)) return value.map(change);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, change(each)]));
  };
  return calls.map((call) => ({ ...call, name: call.name === from ? to : call.name, args: change(call.args), after: call.after.map((each) => (each === from ? to : each)) }));
}

export function moved(calls: Call[], index: number, step: number): Call[] {
  const target = index + step;
  if (target < 0 || target >= calls.length) return calls;
  const copy = [...calls];
  const [call] = copy.splice(index, 1);
  if (call) copy.splice(target, 0, call);
  return copy;
}

/** The calls as a program that people read and write. */
export function programOf(calls: Json[]): string {
  return (calls as unknown as { verb: string; name: string; args: { [key: string]: Json }; after?: string[]; on_failure?: string; gate?: string }[]).map((call) => {
    const args = Object.entries(call.args).map(([name, value]) => `    ${name}: ${written(value)}`).join(",\n");
    const options = [call.after?.length ? ` AFTER ${call.after.join(", ")}` : "", call.on_failure ? ` ON FAILURE ${call.on_failure}` : "", call.gate ? ` GATE ${text(call.gate)}` : ""].join("");
    return `LET ${call.name} = EXEC ${call.verb}(${args ? `\n${args}\n` : ""})${options}`;
  }).join("\n\n") + (calls.length ? "\n" : "");
}

function written(value: Json): string {
  if (typeof value === "string") return text(value);
  if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
  if (value === null || typeof value !== "object") return value === null ? "null" : number(value);
  const reference = value["@"];
  if (typeof reference === "string" && Object.keys(value).length === 1) return reference.replace(/\.(\d+)(?=\.|$)/g, "[$1]");
  return `{${Object.entries(value).map(([key, each]) => `${NAME.test(key) && !key.includes("-") ? key : text(key)}: ${written(each)}`).join(", ")}}`;
}

function text(value: string): string {
  return JSON.stringify(value).replace(/\\([bf])/g, (_, letter: string) => (letter === "b" ? "\\u0008" : "\\u000c"));
}

function number(value: boolean | number): string {
  const shown = String(value);
  return /e/.test(shown) && typeof value === "number" ? value.toFixed(Math.abs(value) < 1 ? 20 : 0).replace(/0+$/, "").replace(/\.$/, "") : shown;
}

/** The number of the step that a problem's place names: `<calls>:2:1`. */
export function stepOf(place: string): number {
  return Number(/:(\d+):\d+$/.exec(place)?.[1] ?? 0);
}
