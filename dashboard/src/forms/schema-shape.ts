// What a JSON Schema asks for, as fields that a form can show.

import type { Json, Schema } from "../api/shapes";

export type TextFormat = "" | "date" | "date-time" | "time" | "duration" | "email" | "uri" | "uuid";

export interface Option {
  value: Json;
  label: string;
}

interface Common {
  title: string;
  description: string;
  isNullable: boolean;
  fallback: Json | undefined;
}

export type TextShape = Common & { kind: "text"; format: TextFormat; isLong: boolean; least: number; most: number | null };
export type NumberShape = Common & { kind: "number"; isInteger: boolean; minimum: number | null; maximum: number | null; above: number | null; below: number | null };
export type YesNoShape = Common & { kind: "yes-no" };
export type ChoiceShape = Common & { kind: "choice"; options: Option[] };
export type ManyShape = Common & { kind: "many"; options: Option[]; least: number };
export type FixedShape = Common & { kind: "fixed"; value: Json };
export type GroupShape = Common & { kind: "group"; fields: Field[] };
export type ListShape = Common & { kind: "list"; item: Shape; least: number; most: number | null };
export type VariantsShape = Common & { kind: "variants"; variants: { label: string; shape: Shape }[] };
export type RawShape = Common & { kind: "raw" };
export type Shape =
  | TextShape
  | NumberShape
  | YesNoShape
  | ChoiceShape
  | ManyShape
  | FixedShape
  | GroupShape
  | ListShape
  | VariantsShape
  | RawShape;

export interface Field {
  name: string;
  shape: Shape;
  isRequired: boolean;
}

const MAX_DEPTH = 8;
const LONG_TEXT = 200;
const FORMATS = new Set(["date", "date-time", "time", "duration", "email", "uri", "uuid"]);

/** The shape of a schema; whatever is too deep or too clever for fields is asked for as JSON. */
export function shapeOf(schema: Schema | null | undefined, title = "", root: Schema = schema ?? {}, depth = 0): Shape {
  const found = resolved(schema ?? {}, root, depth);
  const plain = withoutNull(found);
  const common: Common = {
    title: text(found.title) || title,
    description: text(found.description),
    isNullable: plain.isNullable,
    fallback: found.default as Json | undefined,
  };
  if (depth > MAX_DEPTH) return { kind: "raw", ...common };
  return shapeOfKind(plain.schema, common, root, depth);
}

function shapeOfKind(schema: Schema, common: Common, root: Schema, depth: number): Shape {
  if ("const" in schema) return { kind: "fixed", value: schema.const as Json, ...common };
  if (Array.isArray(schema.enum)) return { kind: "choice", options: schema.enum.map(optionOf), ...common };
  const branches = branchesOf(schema);
  if (branches.length > 0) return variantsOf(branches, common, root, depth);
  switch (typeOf(schema)) {
    case "string":
      return textOf(schema, common);
    case "integer":
    case "number":
      return {
        kind: "number",
        isInteger: schema.type === "integer",
        minimum: number(schema.minimum),
        maximum: number(schema.maximum),
        above: number(schema.exclusiveMinimum),
        below: number(schema.exclusiveMaximum),
        ...common,
      };
    case "boolean":
      return { kind: "yes-no", ...common };
    case "array":
      return listOf(schema, common, root, depth);
    case "object":
      return groupOf(schema, common, root, depth);
    default:
      return { kind: "raw", ...common };
  }
}

function textOf(schema: Schema, common: Common): TextShape {
  const format = text(schema.format);
  const most = number(schema.maxLength);
  const known = (FORMATS.has(format) ? format : "") as TextFormat;
  const isLong = known === "" && (/(reason|comment|note|description|text|summary|message)s?$/i.test(common.title) || (most ?? 0) > LONG_TEXT);
  return { kind: "text", format: known, isLong, least: number(schema.minLength) ?? 0, most, ...common };
}

function listOf(schema: Schema, common: Common, root: Schema, depth: number): ListShape | ManyShape | RawShape {
  if (typeof schema.items !== "object" || schema.items === null) return { kind: "raw", ...common };
  const item = shapeOf(schema.items as Schema, singular(common.title), root, depth + 1);
  const least = number(schema.minItems) ?? 0;
  if (item.kind === "choice" && schema.uniqueItems === true) return { kind: "many", options: item.options, least, ...common };
  return { kind: "list", item, least, most: number(schema.maxItems), ...common };
}

function groupOf(schema: Schema, common: Common, root: Schema, depth: number): GroupShape | RawShape {
  const properties = (schema.properties ?? {}) as { [name: string]: Schema };
  const required = new Set(Array.isArray(schema.required) ? (schema.required as string[]) : []);
  const names = Object.keys(properties);
  if (names.length === 0 && depth > 0) return { kind: "raw", ...common };
  if (names.length === 0 && schema.additionalProperties !== false) return { kind: "raw", ...common };
  const fields = names.map((name) => ({
    name,
    shape: shapeOf(properties[name], labelOf(name), root, depth + 1),
    isRequired: required.has(name),
  }));
  return { kind: "group", fields, ...common };
}

function variantsOf(branches: Schema[], common: Common, root: Schema, depth: number): Shape {
  const shapes = branches.map((branch) => shapeOf(branch, common.title, root, depth + 1));
  const options = shapes.map((shape, index) => constantOf(shape, branches[index] ?? {}));
  if (options.every((option) => option !== null)) return { kind: "choice", options, ...common };
  const variants = shapes.map((shape, index) => ({ label: variantLabel(shape, branches[index] ?? {}, index), shape }));
  return { kind: "variants", variants, ...common };
}

function constantOf(shape: Shape, branch: Schema): Option | null {
  return shape.kind === "fixed" ? { value: shape.value, label: text(branch.title) || optionOf(shape.value).label } : null;
}

function variantLabel(shape: Shape, branch: Schema, index: number): string {
  const named: { [kind: string]: string } = { text: "Text", number: "Number", "yes-no": "Yes or no", list: "List", raw: "JSON" };
  return text(branch.title) || text(branch.description) || named[shape.kind] || `Form ${index + 1}`;
}

/** One of several branches; an `allOf` is laid over what stands beside it. */
function branchesOf(schema: Schema): Schema[] {
  const found = schema.oneOf ?? schema.anyOf;
  return Array.isArray(found) && schema.properties === undefined ? (found as Schema[]) : [];
}

function resolved(schema: Schema, root: Schema, depth: number): Schema {
  let found = schema;
  for (let hops = 0; typeof found.$ref === "string" && hops <= MAX_DEPTH; hops += 1) {
    const target = pointed(root, found.$ref);
    const { $ref: _, ...beside } = found;
    found = { ...target, ...beside };
  }
  if (!Array.isArray(found.allOf) || depth > MAX_DEPTH) return found;
  const { allOf, ...beside } = found;
  return (allOf as Schema[]).map((part) => resolved(part, root, depth + 1)).reduce(merged, beside);
}

function merged(one: Schema, other: Schema): Schema {
  const properties = { ...(one.properties as object), ...(other.properties as object) };
  const required = [...((one.required as string[]) ?? []), ...((other.required as string[]) ?? [])];
  return { ...other, ...one, properties, required };
}

function pointed(root: Schema, reference: string): Schema {
  if (!reference.startsWith("#/")) return {};
  let found: unknown = root;
  for (const part of reference.slice(2).split("/")) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    found = typeof found === "object" && found !== null ? (found as Schema)[name] : undefined;
  }
  return typeof found === "object" && found !== null ? (found as Schema) : {};
}

function withoutNull(schema: Schema): { schema: Schema; isNullable: boolean } {
  if (Array.isArray(schema.type) && schema.type.includes("null")) {
    const types = schema.type.filter((type) => type !== "null");
    const options: Schema = Array.isArray(schema.enum) ? { enum: schema.enum.filter((each) => each !== null) } : {};
    return { schema: { ...schema, ...options, type: types.length === 1 ? (types[0] as Json) : types }, isNullable: true };
  }
  const branches = branchesOf(schema);
  const kept = branches.filter((branch) => branch.type !== "null" && branch.const !== null);
  if (branches.length === kept.length) return { schema, isNullable: schema.nullable === true };
  const { oneOf: _one, anyOf: _any, ...beside } = schema;
  const only = kept[0];
  return { schema: kept.length === 1 && only !== undefined ? { ...only, ...beside } : { ...beside, oneOf: kept }, isNullable: true };
}

function typeOf(schema: Schema): string {
  if (typeof schema.type === "string") return schema.type;
  if (schema.properties !== undefined || schema.required !== undefined) return "object";
  return schema.items !== undefined ? "array" : "";
}

function optionOf(value: unknown): Option {
  const label = typeof value === "string" ? value.replaceAll("-", " ").replaceAll("_", " ") : JSON.stringify(value);
  return { value: value as Json, label: label === "" ? "(empty)" : label };
}

/** `case_type` as people read it: "Case type". */
export function labelOf(name: string): string {
  const words = name.replace(/^orch_/, "").replaceAll(/[_-]+/g, " ").trim();
  return words === "" ? name : words.charAt(0).toUpperCase() + words.slice(1);
}

function singular(title: string): string {
  return title.endsWith("ies") ? `${title.slice(0, -3)}y` : title.endsWith("s") && !title.endsWith("ss") ? title.slice(0, -1) : title;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function number(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
