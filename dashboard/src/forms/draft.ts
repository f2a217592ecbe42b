// What somebody has typed into a form so far, and the JSON it means.

import { parseDuration } from "./durations";
import { type Path, pathText } from "./paths";
import type { ChoiceShape, Field, GroupShape, Json, ListShape, NumberShape, Shape, TextShape } from "./shape";

/** Text fields hold what was typed, choices the number of the option as text ("" is none), variants the one chosen. */
export type Draft = string | boolean | null | Draft[] | { [name: string]: Draft };

export interface Fault {
  path: string;
  message: string;
  hint?: string;
}

export interface Answer {
  value: Json | undefined;
  faults: Fault[];
}

/** A draft that is empty but for what the schema gives; or filled with a value, as when a proposal is edited. */
export function draftOf(shape: Shape, value: Json | undefined = shape.fallback): Draft {
  switch (shape.kind) {
    case "text":
      return value === undefined || value === null ? "" : shape.format === "date-time" ? localTime(String(value)) : String(value);
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
      return { chosen: "", inner: shape.variants.map((each) => draftOf(each.shape)) };
    case "raw":
      return value === undefined ? "" : JSON.stringify(value, null, 2);
  }
}

function startingItems(shape: ListShape, value: Json | undefined): Draft[] {
  if (Array.isArray(value)) return value.map((each) => draftOf(shape.item, each));
  return Array.from({ length: Math.min(shape.least, 20) }, () => draftOf(shape.item));
}

function member(value: Json | undefined, field: Field): Json | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value[field.name] : undefined;
}

function indexOf(shape: { options: { value: Json }[] }, value: Json | undefined): string {
  const index = shape.options.findIndex((option) => same(option.value, value));
  return index < 0 ? "" : String(index);
}

function same(one: Json | undefined, other: Json | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** The JSON a draft means, and what is wrong with it as far as the form can tell; the server tells the rest. */
export function answerOf(shape: Shape, draft: Draft, isRequired = true, path: Path = []): Answer {
  switch (shape.kind) {
    case "text":
      return scalar(shape, String(draft ?? ""), isRequired, path, textValue);
    case "number":
      return scalar(shape, String(draft ?? "").trim(), isRequired, path, numberValue);
    case "choice":
      return scalar(shape, String(draft ?? ""), isRequired, path, chosenValue);
    case "yes-no":
      return typeof draft === "boolean" ? fine(draft) : missing(shape, isRequired, path);
    case "many":
      return manyAnswer(shape.options, draft, shape.least, isRequired, path);
    case "fixed":
      return isRequired ? fine(shape.value) : fine(undefined);
    case "group":
      return groupAnswer(shape, draft, isRequired, path);
    case "list":
      return listAnswer(shape, draft, isRequired, path);
    case "variants": {
      const { chosen, inner } = draft as { chosen: string; inner: Draft[] };
      const variant = shape.variants[Number(chosen)];
      if (chosen === "" || variant === undefined) return missing(shape, isRequired, path);
      return answerOf(variant.shape, inner[Number(chosen)] ?? null, true, path);
    }
    case "raw":
      return rawAnswer(shape, String(draft ?? ""), isRequired, path);
  }
}

type Reading = { value: Json } | { message: string; hint?: string };

function scalar<S extends Shape>(shape: S, typed: string, isRequired: boolean, path: Path, read: (shape: S, typed: string) => Reading): Answer {
  if (typed === "") return missing(shape, isRequired, path);
  const reading = read(shape, typed);
  return "value" in reading ? fine(reading.value) : { value: undefined, faults: [{ path: pathText(path), ...reading }] };
}

function textValue(shape: TextShape, typed: string): Reading {
  if (shape.format === "duration" && parseDuration(typed) === null) {
    return { message: "This is no duration.", hint: "Write P3D for three days, PT4H for four hours." };
  }
  if (shape.format === "date-time") {
    const moment = new Date(typed);
    return Number.isNaN(moment.valueOf()) ? { message: "This is no date and time." } : { value: moment.toISOString() };
  }
  if (typed.length < shape.least) return { message: `At least ${shape.least} characters are needed.` };
  if (shape.most !== null && typed.length > shape.most) return { message: `At most ${shape.most} characters fit; these are ${typed.length}.` };
  return { value: typed };
}

function numberValue(shape: NumberShape, typed: string): Reading {
  const value = Number(typed);
  if (!Number.isFinite(value)) return { message: "This is no number." };
  if (shape.isInteger && !Number.isInteger(value)) return { message: "A whole number is needed." };
  if (shape.minimum !== null && value < shape.minimum) return { message: `At least ${shape.minimum}.` };
  if (shape.maximum !== null && value > shape.maximum) return { message: `At most ${shape.maximum}.` };
  return { value };
}

function chosenValue(shape: ChoiceShape, typed: string): Reading {
  const option = shape.options[Number(typed)];
  return option === undefined ? { message: "Choose one of these." } : { value: option.value };
}

function manyAnswer(options: { value: Json }[], draft: Draft, least: number, isRequired: boolean, path: Path): Answer {
  const chosen = (Array.isArray(draft) ? draft : []).map((index) => options[Number(index)]?.value).filter((value) => value !== undefined);
  if (chosen.length === 0 && !isRequired) return fine(undefined);
  const faults = chosen.length < least ? [{ path: pathText(path), message: `Choose at least ${least}.` }] : [];
  return { value: chosen, faults };
}

function groupAnswer(shape: GroupShape, draft: Draft, isRequired: boolean, path: Path): Answer {
  const typed = (typeof draft === "object" && draft !== null && !Array.isArray(draft) ? draft : {}) as { [name: string]: Draft };
  if (!isRequired && path.length > 0 && isEmpty(shape, typed)) return fine(undefined);
  const answers = shape.fields.map((field) => ({
    name: field.name,
    answer: answerOf(field.shape, typed[field.name] ?? null, field.isRequired, [...path, field.name]),
  }));
  const told = answers.filter(({ answer }) => answer.value !== undefined);
  return {
    value: Object.fromEntries(told.map(({ name, answer }) => [name, answer.value as Json])),
    faults: answers.flatMap(({ answer }) => answer.faults),
  };
}

function listAnswer(shape: ListShape, draft: Draft, isRequired: boolean, path: Path): Answer {
  const items = Array.isArray(draft) ? draft : [];
  if (items.length === 0 && !isRequired) return fine(undefined);
  const answers = items.map((item, index) => answerOf(shape.item, item, true, [...path, index]));
  const faults = answers.flatMap((answer) => answer.faults);
  if (items.length < shape.least) faults.push({ path: pathText(path), message: `At least ${shape.least} are needed.` });
  if (shape.most !== null && items.length > shape.most) faults.push({ path: pathText(path), message: `At most ${shape.most} fit.` });
  return { value: answers.map((answer) => answer.value ?? null), faults };
}

function rawAnswer(shape: Shape, typed: string, isRequired: boolean, path: Path): Answer {
  if (typed.trim() === "") return missing(shape, isRequired, path);
  try {
    return fine(JSON.parse(typed) as Json);
  } catch {
    return { value: undefined, faults: [{ path: pathText(path), message: "This is no JSON.", hint: 'Text goes in quotes: "like this".' }] };
  }
}

function missing(shape: Shape, isRequired: boolean, path: Path): Answer {
  if (!isRequired) return fine(undefined);
  if (shape.isNullable) return fine(null);
  return { value: undefined, faults: [{ path: pathText(path), message: "This is required." }] };
}

function fine(value: Json | undefined): Answer {
  return { value, faults: [] };
}

/** Whether nothing was typed into it that its schema did not give. */
function isEmpty(shape: Shape, draft: Draft): boolean {
  return JSON.stringify(draft) === JSON.stringify(draftOf(shape, undefined)) && shape.fallback === undefined;
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
  const typed = typeof draft === "object" && draft !== null && !Array.isArray(draft) ? draft : {};
  return { ...typed, [part]: changed(typed[part] ?? null, rest, value) };
}

/** A moment as the browser's field for date and time wants it: local, to the minute. */
export function localTime(iso: string): string {
  const moment = new Date(iso);
  if (Number.isNaN(moment.valueOf())) return "";
  const local = new Date(moment.valueOf() - moment.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
