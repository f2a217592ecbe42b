// The audit trail: every entry of the journal, who asked for it, and what it says.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, type Problem } from "../../api/client";
import type { EventView, Page, StepView } from "../../api/shapes";
import { onEvent } from "../../live/event-stream";
import { asProblem } from "../../live/resource";
import { JsonTree } from "../../parts/json-tree";
import { Blank, Loading, ProblemBox } from "../../parts/load-states";
import { Exact } from "../../parts/relative-time";

const LIMIT = 200;

interface Trail { events: EventView[]; next: string | null; isLoading: boolean; error?: Problem }

export function Audit({ base, id, steps }: { base: string; id: string; steps: StepView[] }) {
  const { trail, more } = useTrail(base, id);
  const [wanted, setWanted] = useState("");
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = trail.events.filter((event) => words.every((word) => searched(event, steps).includes(word)));
  return (
    <div class="stack">
      <div class="row">
        <input class="input fit search" type="search" data-search aria-label="Filter the audit trail" placeholder="Filter by entry, step or person" value={wanted} onInput={(event) => setWanted(event.currentTarget.value)} />
        <span class="soft" role="status">{words.length ? `${shown.length} of ${trail.events.length}` : `${trail.events.length}${trail.next ? "+" : ""}`} entries</span>
      </div>
      {trail.error && <ProblemBox problem={trail.error} retry={more} />}
      {trail.events.length === 0 && trail.isLoading && <Loading />}
      {trail.events.length > 0 && shown.length === 0 && <Blank title="No entry matches" />}
      <ol class="trail">
        {shown.map((event, index) => (
          <li key={`${event.sequence}.${index}`}>
            <details>
              <summary><span class="number soft">{event.sequence}</span><Exact at={event.at} /><strong>{event.entry}</strong>{stepOf(event, steps)}<span class="soft">{event.principal}{event.key ? ` by key ${event.key}` : ""}{event.command ? ` · ${event.command}` : ""}</span></summary>
              <JsonTree value={event.data} label={`${event.entry} ${event.sequence}`} />
              {event.trace && <p class="small soft">Trace <code>{event.trace}</code></p>}
            </details>
          </li>
        ))}
      </ol>
      {trail.next && <button type="button" class="button" onClick={more} disabled={trail.isLoading}>{trail.isLoading ? "Reading…" : "Read more"}</button>}
    </div>
  );
}

function stepOf(event: EventView, steps: StepView[]): string {
  const number = event.data["step"];
  return typeof number === "number" && steps.length > 1 ? (steps[number - 1]?.name ?? "") : "";
}

function searched(event: EventView, steps: StepView[]): string {
  return `${event.entry} ${stepOf(event, steps)} ${event.principal} ${event.command} ${JSON.stringify(event.data)}`.toLowerCase();
}

function useTrail(base: string, id: string): { trail: Trail; more: () => void } {
  const [trail, setTrail] = useState<Trail>({ events: [], next: null, isLoading: true });
  const pages = useRef<{ after: string | null; events: EventView[]; next: string | null }[]>([]);
  const isBusy = useRef(false);
  const isStale = useRef(false);

  const read = async (index: number) => {
    if (isBusy.current) {
      isStale.current = true;
      return;
    }
    isBusy.current = true;
    setTrail((before) => ({ ...before, isLoading: true }));
    try {
      const after = index === 0 ? null : (pages.current[index - 1]?.next ?? null);
      const page = await get<Page<EventView>>(`${base}/events`, { query: { limit: LIMIT, after } });
      pages.current = [...pages.current.slice(0, index), { after, events: page.items, next: page.next }];
      setTrail({ events: pages.current.flatMap((each) => each.events), next: page.next, isLoading: false });
    } catch (error) {
      setTrail((before) => ({ ...before, isLoading: false, error: asProblem(error) }));
    }
    isBusy.current = false;
    if (isStale.current) {
      isStale.current = false;
      void read(Math.max(0, pages.current.length - 1));
    }
  };
  useEffect(() => {
    pages.current = [];
    setTrail({ events: [], next: null, isLoading: true });
    void read(0);
    // What is new stands at the end: only the last page is read again, and only when we have come so far.
    return onEvent((event) => {
      if (event.id === id && !pages.current.at(-1)?.next) void read(Math.max(0, pages.current.length - 1));
    });
  }, [base]);
  return { trail, more: () => void read(pages.current.length) };
}
