// One column of the board: the instances in a state, newest first, page after page.
import { useEffect } from "preact/hooks";
import type { LifecycleItem } from "../../api/paper-shapes";
import { usePages } from "../../lists/paged-list";
import { Loaded } from "../../parts/load-states";
import { Ago } from "../../parts/relative-time";
import { Badge, StateBadge } from "../../parts/state-badge";
import { Link } from "../../router";
import type { BoardState } from "./board-columns";

const SETTLE_MS = 500;

interface ColumnProps { state: BoardState; lifecycle: string; filters: { subject: string; blocker: string }; onCount: (count: number) => void }

export function Column({ state, lifecycle, filters, onCount }: ColumnProps) {
  const pages = usePages<LifecycleItem>("/lifecycles", { lifecycle, state: state.name, ...filters }, (event) => event.kind === "lifecycle", SETTLE_MS);
  const page = pages.from.data;
  useEffect(() => {
    if (page) onCount(page.items.length);
  }, [page]);
  const id = `column-${state.name}`;
  return (
    <section class={`column ${state.is_terminal ? "terminal" : ""}`} aria-labelledby={id}>
      <header>
        <h2 id={id}>{state.name}</h2>
        {page && <span class="badge number" title={page.next === null ? undefined : "and more"}>{page.items.length}{page.next === null ? "" : "+"}</span>}
        {(state.description || state.isFormer) && <p class="soft small">{state.description}{state.isFormer && " (only in an older version)"}</p>}
      </header>
      <Loaded from={pages.from} lines={3}>
        {(data) => (
          <>
            {data.items.length === 0 && <p class="soft small none">Nobody is here.</p>}
            <ul class="plain">{data.items.map((each) => <Card key={each.id} item={each} />)}</ul>
            {data.next !== null && <button type="button" class="button tight" onClick={pages.more} aria-label={`Show more in ${state.name}`}>Show more</button>}
          </>
        )}
      </Loaded>
    </section>
  );
}

function Card({ item }: { item: LifecycleItem }) {
  return (
    <li class="card-of">
      <Link to={`/lifecycles/${item.id}`}>{item.subject}</Link>
      {item.blockers.length > 0 && <ul class="blockers" aria-label="Blocked by">{item.blockers.map((each) => <li key={each}><Badge tone="wait" sign="‖">{blockerText(each)}</Badge></li>)}</ul>}
      <span class="row small">
        {item.is_stuck && <Badge tone="bad" sign="!">stuck</Badge>}
        {item.is_overdue && <Badge tone="bad" sign="!">overdue</Badge>}
        {item.status === "cancelled" && <StateBadge state="cancelled" />}
        <span class="soft">entered <Ago at={item.entered_at} /></span>
      </span>
    </li>
  );
}

/** A closed guard of a transition has the state behind it as its key. */
export function blockerText(key: string): string {
  return key.startsWith("->") ? `the way to ${key.slice(2)}` : key;
}
