// Two versions field by field: every leaf of either, and how it changed. Pure.
import type { Json } from "../../api/shapes";

export type Change = "same" | "changed" | "added" | "removed";
export interface ComparedField { path: string; before: string; after: string; change: Change }

export function comparedFields(before: Json | undefined, after: Json | undefined): ComparedField[] {
  const [ours, theirs] = [leavesOf(before), leavesOf(after)];
  const paths = [...new Set([...ours.keys(), ...theirs.keys()])];
  return paths.map((path) => {
    const [one, other] = [ours.get(path), theirs.get(path)];
    const change = one === undefined ? "added" : other === undefined ? "removed" : one === other ? "same" : "changed";
    return { path, before: one ?? "", after: other ?? "", change };
  });
}

function leavesOf(value: Json | undefined, path = "", found = new Map<string, string>()): Map<string, string> {
  if (value === undefined || (value === null && path === "")) return found;
  if (value === null || typeof value !== "object") return found.set(path, typeof value === "string" ? value : JSON.stringify(value));
  const entries = Object.entries(value);
  if (entries.length === 0 && path !== "") found.set(path, JSON.stringify(value));
  for (const [name, inner] of entries) leavesOf(inner as Json, path ? `${path}.${name}` : name, found);
  return found;
}
