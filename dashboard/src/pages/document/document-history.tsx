// The history of a document: who handed in, decided and read what, newest first; reads can be seen alone.
import { useState } from "preact/hooks";
import type { EventView, Page } from "../../api/shapes";
import type { Resource } from "../../live/resource";
import { Loaded } from "../../parts/load-states";
import { Exact } from "../../parts/relative-time";
import { query, setQuery } from "../../router";
import { eventText, isRead } from "./event-words";

const STEP = 100;

export function History({ events }: { events: Resource<Page<EventView>> }) {
  const [count, setCount] = useState(STEP);
  const only = query.value.get("events") ?? "";
  return (
    <div class="stack">
      <div class="chips" role="group" aria-label="Events">
        {[["", "Everything"], ["reads", "Reads"], ["changes", "Changes"]].map(([name = "", label]) => <button key={name} type="button" class="chip" aria-pressed={only === name} onClick={() => setQuery({ events: name })}>{label}</button>)}
      </div>
      <Loaded from={events} lines={6}>
        {(page) => {
          const wanted = page.items.filter((each) => only === "" || isRead(each) === (only === "reads"));
          const shown = wanted.slice(-count).reverse();
          return (
            <>
              {wanted.length === 0 && <p class="soft">{only === "reads" ? "Nobody has read it." : "Nothing has happened to it."}</p>}
              <ol class="events" reversed aria-label="Events, newest first">
                {shown.map((each, index) => <li key={index}><span class="soft small"><Exact at={each.at} /></span><span><strong>{each.principal}</strong> {eventText(each)}</span></li>)}
              </ol>
              {wanted.length > shown.length && <button type="button" class="button" onClick={() => setCount(count + STEP)}>Show earlier ones</button>}
            </>
          );
        }}
      </Loaded>
    </div>
  );
}
