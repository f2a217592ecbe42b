// The journal of one instance, read to its end and further when something happens.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, type Problem } from "../../api/client";
import type { EventView, Page } from "../../api/shapes";
import { onEvent } from "../../live/event-stream";
import { asProblem } from "../../live/resource";

const MOST_ENTRIES = 20_000;
const PAGE = 200;

export interface Trail {
  entries: EventView[];
  isComplete: boolean;
  error: Problem | undefined;
}

/** The last page is read again when the instance moves: a page that was not full may have grown. */
export function useTrail(path: string, id: string): Trail {
  const [trail, setTrail] = useState<Trail>({ entries: [], isComplete: false, error: undefined });
  const kept = useRef<{ entries: EventView[]; cursor: string | null }>({ entries: [], cursor: null });
  useEffect(() => {
    const gone = new AbortController();
    let isReading = false;
    let isStale = false;
    kept.current = { entries: [], cursor: null };
    const read = async (): Promise<void> => {
      isStale = true;
      if (isReading) return;
      isReading = true;
      while (isStale && !gone.signal.aborted) {
        isStale = false;
        await readOn(path, kept.current, gone.signal, setTrail);
      }
      isReading = false;
    };
    void read();
    const stop = onEvent((event) => event.id === id && void read());
    return () => {
      gone.abort();
      stop();
    };
  }, [path]);
  return trail;
}

async function readOn(path: string, kept: { entries: EventView[]; cursor: string | null }, signal: AbortSignal, show: (trail: Trail) => void): Promise<void> {
  try {
    for (;;) {
      const page = await get<Page<EventView>>(path, { query: { limit: PAGE, after: kept.cursor }, signal });
      const entries = [...kept.entries, ...page.items];
      const isEnd = page.next === null || page.next === undefined || entries.length >= MOST_ENTRIES;
      show({ entries, isComplete: isEnd, error: undefined });
      if (isEnd) return;
      kept.entries = entries;
      kept.cursor = page.next;
    }
  } catch (error) {
    if (!signal.aborted) show({ entries: kept.entries, isComplete: true, error: asProblem(error) });
  }
}
