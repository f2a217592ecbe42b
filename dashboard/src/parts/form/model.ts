// A form made from a JSON Schema: which fields there are, what they begin with, and what is wrong with an answer.
import type { FieldError, Json, Schema } from "../../api/shapes";

/** Stands for a part of the result of an earlier step, where a form may refer to one. */
export class Reference {
  constructor(readonly path: string) {}
}
export type Value = undefined | null | boolean | number | string | Reference | Value[] | { [key: string]: Value };
export type Kind = "text" | "number" | "boolean" | "choice" | "object" | "list" | "json";

export interface Field {
  name: string; label: string; help: string; kind: Kind; isRequired: boolean; format: string; options: Json[]; fields: Field[]; item: Field | null; schema: Schema;
}

const MAX_DEPTH = 6;

/** The form of a schema. `root` is where `$ref` looks; what cannot be drawn as fields becomes a field of JSON. */
export function fieldOf(schema: Schema, name = "", isRequired = true, root: Schema = schema, depth = 0): Field {
  const whole = resolved(schema, root);
  const options = optionsOf(whole, root);
  const kind = depth >= MAX_DEPTH ? "json" : options.length ? "choice" : kindOf(whole);
  const needed = new Set(Array.isArray(whole["required"]) ? whole["required"].map(String) : []);
  const properties = kind === "object" ? Object.entries((whole["properties"] ?? {}) as Record<string, Schema>) : [];
  return {
    name, label: text(whole["title"]) || labelOf(name), help: text(whole["description"]), kind, isRequired, format: formatOf(whole), options,
    fields: properties.map(([each, inner]) => fieldOf(inner, each, needed.has(each), root, depth + 1)),
    item: kind === "list" ? fieldOf((whole["items"] ?? {}) as Schema, "", true, root, depth + 1) : null,
    schema: whole,
  };
}

function resolved(schema: Schema, root: Schema): Schema {
  let found: Schema = schema === (true as unknown) || !schema ? {} : schema;
  for (let hops = 0; hops < 16 && typeof found["$ref"] === "string"; hops++) {
    const target = pointed(root, found["$ref"]);
    const { $ref: _, ...rest } = found;
    found = { ...(target ?? {}), ...rest };
  }
  for (const part of Array.isArray(found["allOf"]) ? (found["allOf"] as Schema[]) : []) {
    const inner = resolved(part, root);
    found = {
      ...inner, ...found,
      properties: { ...((inner["properties"] ?? {}) as Schema), ...((found["properties"] ?? {}) as Schema) },
      required: [...((inner["required"] ?? []) as Json[]), ...((found["required"] ?? []) as Json[])],
    };
  }
  return found;
}

function pointed(root: Schema, reference: string): Schema | null {
  if (!reference.startsWith("#")) return null;
  let found: Json | undefined = root;
  for (const part of reference.slice(1).split("/").filter(Boolean)) {
    const key = decodeURIComponent(part).replace(/~1/g, "/").replace(/~0/g, "~");
    found = found && typeof found === "object" && !Array.isArray(found) ? found[key] : undefined;
  }
  return (found as Schema | undefined) ?? null;
}

function optionsOf(schema: Schema, root: Schema): Json[] {
  if (Array.isArray(schema["enum"])) return schema["enum"];
  if ("const" in schema) return [schema["const"] as Json];
  const choices = (schema["oneOf"] ?? schema["anyOf"]) as Schema[] | undefined;
  if (!Array.isArray(choices)) return [];
  const values = choices.map((each) => resolved(each, root)).filter((each) => "const" in each).map((each) => each["const"] as Json);
  return values.length === choices.length ? values : [];
}

function typesOf(schema: Schema): string[] {
  const type = schema["type"];
  return (Array.isArray(type) ? type.map(String) : typeof type === "string" ? [type] : []).filter((each) => each !== "null");
}

function kindOf(schema: Schema): Kind {
  const types = typesOf(schema);
  if (types.length > 1) return types.every((each) => each === "integer" || each === "number") ? "number" : "json";
  const type = types[0] ?? (schema["properties"] ? "object" : schema["items"] ? "list" : typeof schema["format"] === "string" ? "string" : "");
  if (type === "string") return "text";
  if (type === "integer" || type === "number") return "number";
  if (type === "boolean") return "boolean";
  if (type === "array") return "list";
  if (type === "object" || type === "list") return type === "list" ? "list" : Object.keys((schema["properties"] ?? {}) as Schema).length ? "object" : "json";
  return "json";
}

function formatOf(schema: Schema): string {
  return typesOf(schema)[0] === "integer" ? "integer" : text(schema["format"]);
}

function text(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

export function labelOf(name: string): string {
  const words = name.replace(/[_-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What a fresh form holds: defaults, and the empty shape of what is required. */
export function initialOf(field: Field): Value {
  if (field.schema["default"] !== undefined) return field.schema["default"] as Value;
  if (field.kind === "object" && field.isRequired) {
    const inside: Record<string, Value> = {};
    for (const each of field.fields) {
      const value = initialOf(each);
      if (value !== undefined) inside[each.name] = value;
    }
    return inside;
  }
  if (field.kind === "choice" && field.isRequired && field.options.length === 1) return field.options[0] as Value;
  return undefined;
}

/** Whether somebody said anything: what is not said is left out of the answer. */
export function isEmpty(value: Value): boolean {
  if (value === undefined || value === "") return true;
  if (value === null || typeof value !== "object" || value instanceof Reference) return false;
  return Array.isArray(value) ? false : Object.values(value).every(isEmpty);
}

/** The answer without what was left empty. */
export function cleaned(field: Field, value: Value): Value {
  if (value === null || typeof value !== "object" || value instanceof Reference) return value === "" ? undefined : value;
  if (Array.isArray(value)) return field.item ? value.map((each) => cleaned(field.item as Field, each)) : value;
  if (field.kind !== "object") return value;
  const inside: Record<string, Value> = {};
  // In the order of the form, whatever was filled in first.
  const order = [...field.fields.map((each) => each.name), ...Object.keys(value)].filter((name, index, all) => name in value && all.indexOf(name) === index);
  for (const name of order) {
    const each = value[name];
    const known = field.fields.find((candidate) => candidate.name === name);
    const kept = known ? cleaned(known, each) : each;
    if (kept !== undefined && !(known && !known.isRequired && isEmpty(kept))) inside[name] = kept;
  }
  return inside;
}

/** What is wrong with an answer, by path as in `address.lines[0]`; the server checks again and has the last word. */
export function faultsOf(field: Field, value: Value, path = ""): FieldError[] {
  if (value instanceof Reference) return value.path ? [] : [{ path, message: "Choose a step and a part of its result." }];
  if (isEmpty(value) && field.kind !== "object") return field.isRequired ? [{ path, message: "This is needed." }] : [];
  if (field.kind === "object") {
    if (isEmpty(value) && !field.isRequired) return [];
    const inside = (value ?? {}) as Record<string, Value>;
    return field.fields.flatMap((each) => faultsOf(each, inside[each.name], path ? `${path}.${each.name}` : each.name));
  }
  if (field.kind === "list") return listFaults(field, value, path);
  const message = messageFor(field, value);
  return message ? [{ path, message }] : [];
}

function listFaults(field: Field, value: Value, path: string): FieldError[] {
  const items = Array.isArray(value) ? value : [];
  const least = Number(field.schema["minItems"] ?? 0);
  const most = Number(field.schema["maxItems"] ?? Infinity);
  const found: FieldError[] = [];
  if (items.length < least) found.push({ path, message: `At least ${least} ${least === 1 ? "is" : "are"} needed.` });
  if (items.length > most) found.push({ path, message: `At most ${most} ${most === 1 ? "is" : "are"} possible.` });
  return field.item ? [...found, ...items.flatMap((each, index) => faultsOf(field.item as Field, each, `${path}[${index}]`))] : found;
}

const FORMATS: Record<string, readonly [RegExp, string]> = {
  email: [/^[^\s@]+@[^\s@]+$/, "Write an address as in ana@example.com."],
  uuid: [/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i, "Write a UUID: 32 hexadecimal digits in five groups."],
  date: [/^\d{4}-\d\d-\d\d$/, "Write a date as in 2030-12-31."],
};

function messageFor(field: Field, value: Value): string {
  const { schema } = field;
  if (field.kind === "choice") return field.options.some((each) => JSON.stringify(each) === JSON.stringify(value)) ? "" : "Choose one of the list.";
  if (field.kind === "number") {
    if (typeof value !== "number" || !Number.isFinite(value)) return "Write a number.";
    if (field.format === "integer" && !Number.isInteger(value)) return "Write a whole number.";
    if (typeof schema["minimum"] === "number" && value < schema["minimum"]) return `It must be at least ${schema["minimum"]}.`;
    if (typeof schema["maximum"] === "number" && value > schema["maximum"]) return `It must be at most ${schema["maximum"]}.`;
    if (typeof schema["exclusiveMinimum"] === "number" && value <= schema["exclusiveMinimum"]) return `It must be more than ${schema["exclusiveMinimum"]}.`;
    if (typeof schema["exclusiveMaximum"] === "number" && value >= schema["exclusiveMaximum"]) return `It must be less than ${schema["exclusiveMaximum"]}.`;
  }
  if (field.kind === "text" && typeof value === "string") {
    if (typeof schema["minLength"] === "number" && [...value].length < schema["minLength"]) return `At least ${schema["minLength"]} characters are needed.`;
    if (typeof schema["maxLength"] === "number" && [...value].length > schema["maxLength"]) return `At most ${schema["maxLength"]} characters are possible.`;
    const form = FORMATS[field.format];
    if (form && !form[0].test(value)) return form[1];
  }
  return "";
}

/** Paths of the server (`$.a.b[0]`, `/a/b/0`) as ours (`a.b[0]`). */
export function pathOf(told: string): string {
  if (told.startsWith("/")) {
    return told.slice(1).split("/").reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path ? `${path}.${part}` : part), "");
  }
  return told.replace(/^\$\.?/, "").replace(/\.(\d+)(?=\.|\[|$)/g, "[$1]");
}
