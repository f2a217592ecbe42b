// What is wrong with an answer, each fault beside the field it concerns.

import type { Fault } from "./form-answer";
import type { Draft } from "./form-draft";
import { above, type Path, pathText } from "./value-paths";
import { isRecord } from "./result-references";
import type { Shape } from "./schema-shape";

/** Faults by the place they are shown at; "$" is the top of the form, for what concerns no field in sight. */
export function faultsByPlace(faults: readonly Fault[], places: ReadonlySet<string>): Map<string, Fault[]> {
  const found = new Map<string, Fault[]>();
  for (const fault of faults) {
    const place = nearest(fault.path, places);
    const shown = place === fault.path || place !== "$" ? fault : { ...fault, message: named(fault) };
    found.set(place, [...(found.get(place) ?? []), shown]);
  }
  return found;
}

function nearest(path: string, places: ReadonlySet<string>): string {
  let place = path;
  while (place !== "$" && !places.has(place)) place = above(place);
  return place;
}

function named(fault: Fault): string {
  return fault.path === "$" ? fault.message : `${fault.path.slice(2)}: ${fault.message}`;
}

/** Every place of a form as it stands, so that a fault finds the field it concerns. */
export function placesOf(shape: Shape, draft: Draft, path: Path = []): Set<string> {
  const found = new Set<string>([pathText(path)]);
  const add = (inner: Shape, typed: Draft, place: Path): void => {
    for (const each of placesOf(inner, typed, place)) found.add(each);
  };
  if (shape.kind === "group" && isRecord(draft)) {
    for (const field of shape.fields) add(field.shape, draft[field.name] ?? null, [...path, field.name]);
  } else if (shape.kind === "list" && Array.isArray(draft)) {
    draft.forEach((item, index) => add(shape.item, item, [...path, index]));
  } else if (shape.kind === "variants" && isRecord(draft) && draft.chosen !== "") {
    const index = Number(draft.chosen);
    const variant = shape.variants[index];
    const inner = Array.isArray(draft.inner) ? (draft.inner[index] ?? null) : null;
    if (variant !== undefined) add(variant.shape, inner, path);
  }
  return found;
}
