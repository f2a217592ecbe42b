// The JSON that a draft of a form means, and what is wrong with it as far as the form can tell.

import type { Json } from "../api/shapes";
import { type Draft, draftOf } from "./form-draft";
import { parseDuration } from "./durations";
import { type Path, pathText } from "./value-paths";
import { isRecord, Reference } from "./result-references";
import type { ChoiceShape, GroupShape, ListShape, NumberShape, Shape, TextFormat, TextShape } from "./schema-shape";

export interface Fault {
  path: string;
  message: string;
  hint?: string;
}

export interface Answer {
  value: Json | undefined;
  faults: Fault[];
}

/** The server tells what else is wrong. What does not fit keeps its place in the value, so that a draft loses nothing. */
export function answerOf(shape: Shape, draft: Draft, isRequired = true, path: Path = []): Answer {
  if (draft instanceof Reference) return referred(draft, path);
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
      const { chosen, inner } = (draft ?? { chosen: "", inner: [] }) as { chosen: string; inner: Draft[] };
      const variant = shape.variants[Number(chosen)];
      if (chosen === "" || variant === undefined) return missing(shape, isRequired, path);
      return answerOf(variant.shape, inner[Number(chosen)] ?? null, true, path);
    }
    case "raw":
      return rawAnswer(shape, String(draft ?? ""), isRequired, path);
  }
}

function referred(reference: Reference, path: Path): Answer {
  const faults = reference.path ? [] : [{ path: pathText(path), message: "Choose a step and a part of its result." }];
  return { value: reference.toJSON(), faults };
}

type Reading = { value: Json } | { message: string; hint?: string };

function scalar<S extends Shape>(shape: S, typed: string, isRequired: boolean, path: Path, read: (shape: S, typed: string) => Reading): Answer {
  if (typed === "") return missing(shape, isRequired, path);
  const reading = read(shape, typed);
  return "value" in reading ? fine(reading.value) : { value: typed, faults: [{ path: pathText(path), ...reading }] };
}

const FORMS: { [format in TextFormat]?: readonly [RegExp, string] } = {
  email: [/^[^\s@]+@[^\s@]+$/, "Write an address as in ana@example.com."],
  uuid: [/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i, "Write a UUID: 32 hexadecimal digits in five groups."],
  date: [/^\d{4}-\d\d-\d\d$/, "Write a date as in 2030-12-31."],
};

function textValue(shape: TextShape, typed: string): Reading {
  if (shape.format === "duration" && parseDuration(typed) === null) {
    return { message: "This is no duration.", hint: "Write P3D for three days, PT4H for four hours." };
  }
  if (shape.format === "date-time") {
    const moment = new Date(typed);
    return Number.isNaN(moment.valueOf()) ? { message: "This is no date and time." } : { value: moment.toISOString() };
  }
  const form = FORMS[shape.format];
  if (form && !form[0].test(typed)) return { message: form[1] };
  const length = [...typed].length;
  if (length < shape.least) return { message: `At least ${shape.least} characters are needed.` };
  if (shape.most !== null && length > shape.most) return { message: `At most ${shape.most} characters fit; these are ${length}.` };
  return { value: typed };
}

function numberValue(shape: NumberShape, typed: string): Reading {
  const value = Number(typed);
  if (!Number.isFinite(value)) return { message: "This is no number." };
  if (shape.isInteger && !Number.isInteger(value)) return { message: "A whole number is needed." };
  if (shape.minimum !== null && value < shape.minimum) return { message: `At least ${shape.minimum}.` };
  if (shape.maximum !== null && value > shape.maximum) return { message: `At most ${shape.maximum}.` };
  if (shape.above !== null && value <= shape.above) return { message: `More than ${shape.above}.` };
  if (shape.below !== null && value >= shape.below) return { message: `Less than ${shape.below}.` };
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
  const typed: { [name: string]: Draft } = isRecord(draft) ? draft : {};
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
    return { value: typed, faults: [{ path: pathText(path), message: "This is no JSON.", hint: 'Text goes in quotes: "like this".' }] };
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
