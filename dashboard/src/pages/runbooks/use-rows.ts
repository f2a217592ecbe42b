// Reads the list a page at a time and follows what happens; only what changed, and is in sight, is read again.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, type Problem } from "../../api/client";
import type { Page, RunbookRow } from "../../api/shapes";
import { liveSince, liveState, onEvent } from "../../live/event-stream";
import { asProblem } from "../../live/resource";
import type { Span } from "../../lists/visible-rows";
import { type Known, NOTHING, pageOf, type Start, withEvent, withPage } from "./list-cache";

const LIMIT = 200;
const SETTLE_MS = 250;
const TOP: Start = { behind: "", after: null };

export interface Filters { state: string; q: string; case: string; kind: string }

export interface Rows { known: Known; error: Problem | undefined; isLoading: boolean; more: () => void; retry: () => void; see: (span: Span) => void }

export function useRows(filters: Filters): Rows {
  const [known, setKnown] = useState<Known>(NOTHING);
  const [error, setError] = useState<Problem>();
  const [isLoading, setLoading] = useState(true);
  const now = useRef({ known, filters, isReading: false, stale: new Set<string>(), wantsTop: false, wantsMore: false, seen: { first: 0, last: 0 } as Span });
  now.current.known = known;
  now.current.filters = filters;
  const generation = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);

  const read = async (start: Start, limit = LIMIT): Promise<void> => {
    const mine = generation.current;
    now.current.isReading = true;
    try {
      const page = await get<Page<RunbookRow>>("/runbooks", { query: { ...now.current.filters, limit, after: start.after } });
      if (mine !== generation.current) return;
      now.current.known = withPage(now.current.known, start, page);
      setKnown(now.current.known);
      setError(undefined);
      // The server looks at so many at a time: a page may hold none of those that are wanted, and there are more.
      if (page.items.length === 0 && page.next) return await read({ behind: start.behind, after: page.next }, limit);
    } catch (problem) {
      if (mine === generation.current) setError(asProblem(problem));
    } finally {
      if (mine === generation.current) {
        now.current.isReading = false;
        setLoading(false);
        if (now.current.wantsMore) more();
      }
    }
  };

  useEffect(() => {
    generation.current += 1;
    setKnown(NOTHING);
    now.current.known = NOTHING;
    now.current.stale.clear();
    now.current.wantsMore = false;
    setLoading(true);
    void read(TOP);
    return () => clearTimeout(timer.current);
  }, [filters.state, filters.q, filters.case, filters.kind]);

  const more = () => {
    const { known: at, isReading } = now.current;
    // Whoever wants more while something else is read gets it after that: nothing else would ask again.
    now.current.wantsMore = isReading;
    if (isReading || at.isWhole || !at.next) return;
    setLoading(true);
    void read({ behind: at.rows.at(-1)?.id ?? "", after: at.next });
  };
  const settle = () => {
    timer.current = undefined;
    const { stale, wantsTop, known: at, seen } = now.current;
    now.current.wantsTop = false;
    if (wantsTop) void read(TOP, 50);
    const first = at.rows.slice(seen.first, seen.last).find((row) => stale.has(row.id));
    if (!first) return;
    const { limit, first: from, ...start } = pageOf(at, first.id);
    for (const row of at.rows.slice(from, from + limit)) stale.delete(row.id);
    if (start.after !== null || !wantsTop) void read(start, limit);
    if (stale.size) soon();
  };
  const soon = () => {
    timer.current ??= setTimeout(settle, SETTLE_MS);
  };

  useEffect(() => {
    const since = liveSince.peek();
    const stops = [
      onEvent((event) => {
        if (event.kind !== "runbook") return;
        const change = withEvent(now.current.known, event, now.current.filters.state);
        if (change.known !== now.current.known) {
          now.current.known = change.known;
          setKnown(change.known);
        }
        if (change.read === "row") now.current.stale.add(event.id);
        if (change.read === "top") now.current.wantsTop = true;
        if (change.read !== "nothing") soon();
      }),
      liveSince.subscribe((count) => {
        if (count !== since) {
          now.current.wantsTop = true;
          soon();
        }
      }),
      liveState.subscribe((state) => {
        if (state === "live" && now.current.known.rows.length === 0) {
          now.current.wantsTop = true;
          soon();
        }
      }),
    ];
    return () => stops.forEach((stop) => stop());
  }, []);

  const see = (span: Span) => {
    now.current.seen = span;
    if (now.current.stale.size) soon();
  };
  return { known, error, isLoading, more, see, retry: () => void read(TOP) };
}
