// The lifecycle board: a column for each state, a card for each instance, filtered by what the address says.
import { useEffect, useState } from "preact/hooks";
import { get, mayDo } from "../../api/client";
import type { LifecycleVersionView } from "../../api/paper-shapes";
import type { Page } from "../../api/shapes";
import { useResource } from "../../live/resource";
import { Blank, Loaded } from "../../parts/load-states";
import { PageHead } from "../../parts/page-head";
import { query, setQuery } from "../../router";
import { type BoardState, blockersOf, namesOf, statesOf } from "./board-columns";
import { Column } from "./column";
import { StartLifecycle } from "./start-dialog";
import "../../lists/lists.css";
import "./lifecycles.css";

const TYPING_MS = 300;

export default function LifecyclesPage() {
  const definitions = useResource((signal) => get<Page<LifecycleVersionView>>("/lifecycle-definitions", { signal }), [], (event) => event.kind === "lifecycle-definition");
  const [isStarting, setStarting] = useState(false);
  const names = namesOf(definitions.data?.items ?? []);
  const asked = query.value.get("lifecycle") ?? "";
  const chosen = asked || (names[0] ?? "");
  const start = names.length > 0 && mayDo("lifecycle.start") && <button type="button" class="button primary" onClick={() => setStarting(true)}>Start one</button>;
  return (
    <>
      <PageHead title="Lifecycles" actions={start}><p class="soft">Where each client, case or contract stands, and what keeps it there.</p></PageHead>
      <Loaded from={definitions} lines={10}>
        {(page) => names.length === 0 ? <NoDefinition /> : <Board versions={page.items.filter((each) => each.lifecycle === chosen)} names={names} chosen={chosen} />}
      </Loaded>
      {isStarting && <StartLifecycle lifecycle={chosen} onClose={() => setStarting(false)} />}
    </>
  );
}

function Board({ versions, names, chosen }: { versions: LifecycleVersionView[]; names: string[]; chosen: string }) {
  const filters = { subject: query.value.get("subject") ?? "", blocker: query.value.get("blocker") ?? "" };
  const states = statesOf(versions);
  return (
    <>
      <Filters names={names} chosen={chosen} blockers={blockersOf(versions)} />
      {states.length === 0
        ? <Blank title="There is no such lifecycle"><p>It may be mistyped, or it was never deployed here.</p><button type="button" class="button" onClick={() => setQuery({ lifecycle: null })}>Show another</button></Blank>
        : <Columns key={chosen} states={states} lifecycle={chosen} filters={filters} />}
    </>
  );
}

function Columns({ states, lifecycle, filters }: { states: BoardState[]; lifecycle: string; filters: { subject: string; blocker: string } }) {
  const [counts, setCounts] = useState<Record<string, number>>({});
  const isFiltered = filters.subject !== "" || filters.blocker !== "";
  const isKnown = states.every((each) => counts[each.name] !== undefined);
  const isEmpty = isKnown && states.every((each) => counts[each.name] === 0);
  return (
    <>
      {isEmpty && <NoInstance lifecycle={lifecycle} isFiltered={isFiltered} />}
      <div class={`board ${isEmpty ? "is-empty" : ""}`} role="group" aria-label={`Instances of ${lifecycle} by state`} tabIndex={0}>
        {states.map((each) => (
          <Column key={each.name} state={each} lifecycle={lifecycle} filters={filters} onCount={(count) => setCounts((before) => (before[each.name] === count ? before : { ...before, [each.name]: count }))} />
        ))}
      </div>
    </>
  );
}

function Filters({ names, chosen, blockers }: { names: string[]; chosen: string; blockers: string[] }) {
  const blocker = query.value.get("blocker") ?? "";
  const offered = blocker && !blockers.includes(blocker) ? [...blockers, blocker] : blockers;
  return (
    <div class="filters" role="search" aria-label="Filter lifecycles">
      <div class="field">
        <label for="filter-lifecycle">Lifecycle</label>
        <select id="filter-lifecycle" class="input" value={chosen} onChange={(event) => setQuery({ lifecycle: event.currentTarget.value, blocker: null })}>
          {(names.includes(chosen) ? names : [chosen, ...names]).map((each) => <option key={each} value={each}>{each}</option>)}
        </select>
      </div>
      <SubjectFilter />
      <div class="field">
        <label for="filter-blocker">Blocked by</label>
        <select id="filter-blocker" class="input" value={blocker} onChange={(event) => setQuery({ blocker: event.currentTarget.value })}>
          <option value="">Anything or nothing</option>
          {offered.map((each) => <option key={each} value={each}>{each}</option>)}
        </select>
      </div>
    </div>
  );
}

function SubjectFilter() {
  const [typed, setTyped] = useState(query.value.get("subject") ?? "");
  useEffect(() => {
    const timer = setTimeout(() => setQuery({ subject: typed.trim() }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <div class="field">
      <label for="filter-subject">Subject</label>
      <input id="filter-subject" class="input" type="search" data-search autocomplete="off" placeholder="exact" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
    </div>
  );
}

function NoDefinition() {
  return (
    <section class="card"><Blank title="No lifecycle is deployed yet">
      <p>A lifecycle says which states a client or a case goes through, and what each of them requires. Deploy one from its file:</p>
      <code>perdure lifecycles deploy onboarding.yaml</code>
    </Blank></section>
  );
}

function NoInstance({ lifecycle, isFiltered }: { lifecycle: string; isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <section class="card"><Blank title="No instance fits">
        <p>None of {lifecycle} has this subject and this blocker.</p>
        <a class="button" href={`/lifecycles?lifecycle=${encodeURIComponent(lifecycle)}`}>Show all</a>
      </Blank></section>
    );
  }
  return (
    <section class="card"><Blank title={`Nobody is in ${lifecycle} yet`}>
      <p>{mayDo("lifecycle.start") ? "Start it for a subject with the button above, or from a terminal:" : "It begins when somebody starts it for a subject:"}</p>
      <code>perdure lifecycles start {lifecycle} SUBJECT</code>
    </Blank></section>
  );
}
