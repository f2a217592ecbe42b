// Incidents: the list, choosing many of them, trying those again and seeing what came of each.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { mayDo, post, type Problem } from "../../api/client";
import type { Retried, StuckView } from "../../api/process-shapes";
import { List } from "../../lists/list";
import { usePages } from "../../lists/paged-list";
import { asProblem } from "../../live/resource";
import { Badge } from "../../parts/state-badge";
import { Blank, ProblemBox } from "../../parts/load-states";
import { Ago } from "../../parts/relative-time";
import { tell } from "../../parts/toasts";
import { Link } from "../../router";
import { causeOf, MOST_AT_ONCE, type Outcome, outcomesOf } from "./causes";
import { StuckActs } from "./incident-actions";

export const nameOf = (item: StuckView) => `${item.id}:${item.place}`;

export function Stuck() {
  const pages = usePages<StuckView>("/incidents", {}, (event) => event.kind === "instance" || event.kind === "runbook");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map());
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const items = pages.from.data?.items ?? [];
  const present = items.filter((item) => chosen.has(nameOf(item)));
  const toggle = (name: string) => {
    const next = new Set(chosen);
    if (!next.delete(name)) next.add(name);
    setChosen(next);
  };
  const retry = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      const ids = present.map(nameOf).slice(0, MOST_AT_ONCE);
      const came = outcomesOf((await post<{ items: Retried[] }>("/incidents/retry", { ids })).items);
      setOutcomes(came);
      const done = [...came.values()].filter((each) => each.isDone).length;
      tell(`${done} of ${ids.length} tried again`, { isBad: done < ids.length });
      setChosen(new Set([...chosen].filter((name) => came.get(name)?.isDone !== true)));
    } catch (error) {
      setProblem(asProblem(error));
    }
    setBusy(false);
    pages.from.reload();
  };
  const told = (shown: StuckView[]) => <Outcomes outcomes={outcomes} items={shown} onClose={() => setOutcomes(new Map())} />;
  return (
    <List of={pages} label="Incidents" nouns={["incident", "incidents"]} none={<Fine told={told([])} />}>
      {(shown) => (
        <>
          {mayDo("incident.retry") && (
            <header class="bulk">
              <label class="check">
                <input type="checkbox" checked={present.length === shown.length} indeterminate={present.length > 0 && present.length < shown.length} onChange={(event) => setChosen(event.currentTarget.checked ? new Set(shown.map(nameOf)) : new Set())} />
                <span>Choose all {shown.length} shown</span>
              </label>
              <button type="button" class="button primary push" disabled={present.length === 0 || isBusy} onClick={() => void retry()}>
                {isBusy ? "Trying…" : present.length === 0 ? "Retry chosen" : `Retry ${Math.min(present.length, MOST_AT_ONCE)} chosen`}
              </button>
            </header>
          )}
          {problem && <div class="inside"><ProblemBox problem={problem} /></div>}
          {told(shown)}
          <ul class="stuck-list">
            {shown.map((item) => <Item key={nameOf(item)} item={item} isChosen={chosen.has(nameOf(item))} onChoose={toggle} outcome={outcomes.get(nameOf(item))} onDone={pages.from.reload} />)}
          </ul>
        </>
      )}
    </List>
  );
}

interface ItemProps { item: StuckView; isChosen: boolean; onChoose: (name: string) => void; outcome: Outcome | undefined; onDone: () => void }

function Item({ item, isChosen, onChoose, outcome, onDone }: ItemProps) {
  const cause = causeOf(item.code);
  const label = item.title || item.name || item.id;
  return (
    <li class="stuck-item">
      {mayDo("incident.retry") && <input type="checkbox" aria-label={`Choose ${item.name || label}`} checked={isChosen} onChange={() => onChoose(nameOf(item))} />}
      <div class="stack tight">
        <span class="row"><Link to={placeOf(item)}><strong>{label}</strong></Link>{item.name && item.name !== label && <span class="soft">at {item.name}</span>}<span class="soft small push"><Ago at={item.since} /></span></span>
        <span>{cause.title}</span>
        {(item.text || item.cause) && <span class="soft said">{item.text || item.cause}</span>}
        <span class="soft small">{cause.helps} <code>{item.code}</code></span>
        {outcome && <span role="status"><Badge tone={outcome.isDone ? "good" : "bad"} sign={outcome.isDone ? "✓" : "✕"}>{outcome.isDone ? "tried again" : "refused"}</Badge> <span class="small">{outcome.text}</span></span>}
        <StuckActs item={item} onDone={onDone} />
      </div>
    </li>
  );
}

/** What came of those that are not in the list any more. */
function Outcomes({ outcomes, items, onClose }: { outcomes: ReadonlyMap<string, Outcome>; items: StuckView[]; onClose: () => void }) {
  if (outcomes.size === 0) return null;
  const shown = new Set(items.map(nameOf));
  const done = [...outcomes].filter(([, each]) => each.isDone).length;
  const gone = [...outcomes].filter(([name]) => !shown.has(name));
  return (
    <div class="notice outcomes" role="status">
      <span class="row"><strong>{done} of {outcomes.size} tried again{done < outcomes.size ? `, ${outcomes.size - done} refused` : ""}.</strong><button type="button" class="button tight push" onClick={onClose}>Close</button></span>
      {gone.length > 0 && <details><summary>{gone.length} no longer stuck here</summary><ul>{gone.map(([name, each]) => <li key={name}><code>{name}</code>: {each.text}</li>)}</ul></details>}
    </div>
  );
}

function placeOf(item: StuckView): string {
  return item.kind === "instance" ? `/instances/${item.id}` : `/runbooks/${item.id}`;
}

/** Nothing is left; what came of those that were tried last is still said. */
function Fine({ told }: { told: ComponentChildren }) {
  return (
    <Blank title="Nothing is stuck">
      {told}
      <p>When something cannot go on without a person it appears here, with why and what helps.</p>
    </Blank>
  );
}
