// What differs between two values, field by field. Pure.
import type { Json } from "../../api/shapes";

export interface Change { path: string; before: Json | undefined; after: Json | undefined }

export function changesOf(before: Json | undefined, after: Json | undefined, path = ""): Change[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (!isGroup(before) || !isGroup(after)) return [{ path, before, after }];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => changesOf(before[name], after[name], path ? `${path}.${name}` : name));
}

function isGroup(value: Json | undefined): value is { [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
