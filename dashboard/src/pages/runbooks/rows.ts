// The list as it is known: pages put together, kept current by what is read again. Newest first, by id.
import type { LiveEvent, Page, RunbookRow } from "../../api/shapes";

export interface Known { rows: RunbookRow[]; next: string | null; isWhole: boolean }
export const NOTHING: Known = { rows: [], next: null, isWhole: false };

/** What is known once a page was read that begins after the row `from` ("" is the top). */
export function withPage(known: Known, from: string, page: Page<RunbookRow>): Known {
  const last = page.items.at(-1)?.id ?? "";
  const inside = (id: string) => (from === "" || id < from) && (page.next === null || id >= last);
  const kept = known.rows.filter((row) => !inside(row.id));
  const rows = [...kept, ...page.items].sort((one, other) => (one.id < other.id ? 1 : one.id > other.id ? -1 : 0));
  const end = rows.at(-1)?.id ?? "";
  const reachesEnd = page.next === null || last === end;
  return { rows, next: reachesEnd ? page.next : known.next, isWhole: reachesEnd ? page.next === null : known.isWhole };
}

export interface Change { known: Known; read: "nothing" | "top" | "row" }

/** What an event does to the list at once, and what has to be read because of it. */
export function withEvent(known: Known, event: LiveEvent, state: string): Change {
  const at = known.rows.findIndex((row) => row.id === event.id);
  const row = known.rows[at];
  if (!row) return { known, read: "top" };
  if (event.sequence <= row.sequence) return { known, read: "nothing" };
  const isGone = state !== "" && event.state !== state;
  const rows = isGone ? known.rows.filter((each) => each !== row) : known.rows.map((each) => (each === row ? { ...row, state: event.state, sequence: event.sequence } : each));
  return { known: { ...known, rows }, read: isGone ? "nothing" : "row" };
}

/** Where a page begins: after the row `from`, which the server knows by its cursor. The top is after nothing. */
export interface Start { from: string; after: string | null }

/** The page that holds a row, and how many rows to ask for so that all known ones of that page come with it. */
export function pageOf(known: Known, starts: Start[], id: string): Start & { limit: number } {
  const ordered = [...starts].sort((one, other) => (one.from === "" ? -1 : other.from === "" ? 1 : one.from < other.from ? 1 : -1));
  const at = ordered.reduce((found, each, index) => (each.from === "" || each.from > id ? index : found), 0);
  const start = ordered[at] ?? { from: "", after: null };
  const next = ordered[at + 1];
  const inside = known.rows.filter((row) => (start.from === "" || row.id < start.from) && (!next || row.id >= next.from)).length;
  return { ...start, limit: Math.max(1, Math.min(200, inside)) };
}
