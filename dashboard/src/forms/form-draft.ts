// What somebody has typed into a form so far.

import { answerOf } from "./form-answer";
import type { Path } from "./value-paths";
import { type Given, isRecord, Reference } from "./result-references";
import type { Field, ListShape, Shape, VariantsShape } from "./schema-shape";

/** Text fields hold what was typed, choices the number of the option as text ("" is none), variants the one chosen. */
export type Draft = string | boolean | null | Reference | Draft[] | { [name: string]: Draft };

/** A draft that is empty but for what the schema gives; or filled with a value, as when a proposal is edited. */
export function draftOf(shape: Shape, value: Given = shape.fallback): Draft {
  if (value instanceof Reference) return value;
  switch (shape.kind) {
    case "text":
      return value === undefined || value === null ? "" : shape.format === "date-time" ? localTime(written(value)) : written(value);
    case "number":
      return value === undefined || value === null ? "" : String(value);
    case "yes-no":
      return typeof value === "boolean" ? value : null;
    case "choice":
      return indexOf(shape, value);
    case "many":
      return shape.options.filter((option) => Array.isArray(value) && value.some((each) => same(each, option.value))).map((option) => indexOf(shape, option.value));
    case "fixed":
      return "";
    case "group":
      return Object.fromEntries(shape.fields.map((field) => [field.name, draftOf(field.shape, member(value, field) ?? field.shape.fallback)]));
    case "list":
      return startingItems(shape, value);
    case "variants":
      return startingVariant(shape, value);
    case "raw":
      return value === undefined ? "" : JSON.stringify(value, null, 2);
  }
}

function written(value: Given): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function startingItems(shape: ListShape, value: Given): Draft[] {
  if (Array.isArray(value)) return value.map((each) => draftOf(shape.item, each));
  return Array.from({ length: Math.min(shape.least, 20) }, () => draftOf(shape.item));
}

/** A value chooses the first variant that would mean it again. */
function startingVariant(shape: VariantsShape, value: Given): Draft {
  const isMeant = ({ shape: inner }: { shape: Shape }) => value !== undefined && same(answerOf(inner, draftOf(inner, value)).value, value);
  const index = shape.variants.findIndex(isMeant);
  return { chosen: index < 0 ? "" : String(index), inner: shape.variants.map((each, at) => draftOf(each.shape, at === index ? value : undefined)) };
}

function member(value: Given, field: Field): Given {
  return isRecord(value) ? value[field.name] : undefined;
}

function indexOf(shape: { options: { value: Given }[] }, value: Given): string {
  const index = shape.options.findIndex((option) => same(option.value, value));
  return index < 0 ? "" : String(index);
}

function same(one: Given, other: Given): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** The draft with another value at a place; what is not on the way stays the same object. */
export function changed(draft: Draft, path: Path, value: Draft): Draft {
  const [part, ...rest] = path;
  if (part === undefined) return value;
  if (typeof part === "number") {
    const items = Array.isArray(draft) ? [...draft] : [];
    items[part] = changed(items[part] ?? null, rest, value);
    return items;
  }
  const typed: { [name: string]: Draft } = isRecord(draft) ? draft : {};
  return { ...typed, [part]: changed(typed[part] ?? null, rest, value) };
}

/** A moment as the browser's field for date and time wants it: local, to the minute. */
export function localTime(iso: string): string {
  const moment = new Date(iso);
  if (Number.isNaN(moment.valueOf())) return "";
  const local = new Date(moment.valueOf() - moment.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
