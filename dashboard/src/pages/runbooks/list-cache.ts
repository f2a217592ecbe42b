// The list as it is known: pages put together in the server's order, kept current by what is read again.
import type { LiveEvent, Page, RunbookRow } from "../../api/shapes";

/** Where a page begins: behind the row `behind` ("" is the top), which the server knows by the cursor `after`. */
export interface Start { behind: string; after: string | null }
export interface Known { rows: RunbookRow[]; next: string | null; isWhole: boolean; starts: Start[] }
export const NOTHING: Known = { rows: [], next: null, isWhole: false, starts: [] };

/** What is known once a page was read: it takes the place of the rows it reaches over, whatever came in between. */
export function withPage(known: Known, start: Start, page: Page<RunbookRow>): Known {
  const first = start.behind === "" ? 0 : known.rows.findIndex((row) => row.id === start.behind) + 1;
  const read = new Set(page.items.map((row) => row.id));
  const above = known.rows.slice(0, first).filter((row) => !read.has(row.id));
  const last = page.next === null ? known.rows.length - 1 : known.rows.findLastIndex((row, index) => index >= first && read.has(row.id));
  // Without a row in common nobody knows what lies between: the list ends with the page and is read on from there.
  const isApart = last < first && known.rows.length > first;
  const below = isApart ? [] : known.rows.slice(Math.max(last + 1, first)).filter((row) => !read.has(row.id));
  const rows = [...above, ...page.items, ...below];
  const starts = [...known.starts.filter((each) => each.after !== start.after), start].filter((each) => each.behind === "" || rows.some((row) => row.id === each.behind));
  return below.length > 0 ? { rows, next: known.next, isWhole: known.isWhole, starts } : { rows, next: page.next, isWhole: page.next === null, starts };
}

export interface Change { known: Known; read: "nothing" | "top" | "row" }

/** What an event does to the list at once, and what has to be read because of it. */
export function withEvent(known: Known, event: LiveEvent, state: string): Change {
  const row = known.rows.find((each) => each.id === event.id);
  if (!row) return { known, read: "top" };
  if (event.sequence <= row.sequence) return { known, read: "nothing" };
  const isGone = state !== "" && event.state !== state;
  const rows = isGone ? known.rows.filter((each) => each !== row) : known.rows.map((each) => (each === row ? { ...row, state: event.state, sequence: event.sequence } : each));
  return { known: { ...known, rows }, read: isGone ? "nothing" : "row" };
}

/** The page that holds a row, and how many rows to ask for so that all known ones of that page come with it. */
export function pageOf(known: Known, id: string): Start & { limit: number; first: number } {
  const at = known.rows.findIndex((row) => row.id === id);
  const placed = known.starts.map((start) => ({ start, first: start.behind === "" ? 0 : known.rows.findIndex((row) => row.id === start.behind) + 1 })).sort((one, other) => one.first - other.first);
  const found = placed.findLast((each) => each.first <= at) ?? { start: { behind: "", after: null }, first: 0 };
  const next = placed.find((each) => each.first > found.first)?.first ?? known.rows.length;
  return { ...found.start, first: found.first, limit: Math.max(1, Math.min(200, next - found.first)) };
}
