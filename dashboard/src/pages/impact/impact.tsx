// The answer: each process with its states, then texts of verbs and builds of carriers that running work is pinned to.
import type { CarrierImpact, DeploymentImpact, ProcessImpact, StateImpact, VerbImpact, Verdict } from "../../api/process-shapes";
import { type Column, Table } from "../../lists/table";
import { Blank } from "../../parts/load-states";
import { shortId } from "../../parts/short-id";
import { Badge } from "../../parts/state-badge";
import { Link } from "../../router";
import { counted, VERDICTS, workOf } from "./impact-words";

export function Impact({ impact, isOfModels }: { impact: DeploymentImpact; isOfModels: boolean }) {
  return (
    <div class="stack" role="status">
      <p class="row"><Word verdict={impact.verdict} /><span>{impact.is_decided ? "is the gravest of all." : "is the gravest of what was decided."}</span></p>
      {impact.bounds.length > 0 && <section class="card" aria-label="Not decided"><header><h2>Not decided</h2></header><ul class="inside">{impact.bounds.map((each) => <li key={each}>{each}</li>)}</ul></section>}
      {impact.processes.map((each) => <Process key={each.process} found={each} />)}
      {impact.processes.length === 0 && <Blank title={isOfModels ? "There is no process in these files" : "No instance runs"}><p>What runs when you deploy is listed here, by the state it stands in.</p></Blank>}
      {impact.verbs.length > 0 && <section class="card" aria-label="Verbs"><header><h2>Verbs that running work is pinned to</h2></header><Table caption="Verbs" columns={VERBS} rows={impact.verbs} keyOf={(row) => row.verb + row.hash} /></section>}
      {impact.carriers.length > 0 && <section class="card" aria-label="Carriers"><header><h2>Builds of carrier workers</h2></header><Table caption="Carriers" columns={CARRIERS} rows={impact.carriers} keyOf={(row) => row.engine + row.build} /></section>}
    </div>
  );
}

function Word({ verdict }: { verdict: Verdict }) {
  const [tone, sign, word] = VERDICTS[verdict];
  return <Badge tone={tone} sign={sign}>{word}</Badge>;
}

function Process({ found }: { found: ProcessImpact }) {
  const version = found.is_deployed ? `version ${found.version}` : "the new version";
  return (
    <section class="card" aria-label={found.process}>
      <header>
        <h2>{found.process} under {version}</h2>
        <span class="soft push">{found.states.length === 0 ? "no instance of it runs" : `${counted(found.instances, "instance")} in ${counted(found.states.length, "state")}`}</span>
      </header>
      {found.states.length > 0 && <Table caption={`States of ${found.process}`} columns={STATES} rows={found.states} keyOf={(row) => row.version + row.examples.join()} />}
    </section>
  );
}

function Standing({ state }: { state: StateImpact }) {
  return (
    <ul class="plain-list impact-standing">
      {state.standing.map((each) => (
        <li key={each.element + each.kind + each.incident}>
          {each.name} <span class="soft small">{each.kind}{each.count > 1 ? `, ${each.count} times` : ""}{each.incident ? `, stopped by ${each.incident}` : ""}</span>
        </li>
      ))}
      {Object.entries(state.flags).map(([name, value]) => <li key={name}><code class="small">{name} = {String(value)}</code></li>)}
      {state.is_suspended && <li class="soft small">suspended</li>}
    </ul>
  );
}

function Told({ state }: { state: StateImpact }) {
  const pairs = Object.entries(state.mapping);
  return (
    <div class="stack tight impact-told">
      {state.reason && <span>{state.element && state.code && <><code>{state.element}</code>: </>}{state.reason}</span>}
      {state.steps.length > 0 && <ol class="small">{state.steps.map((step, index) => <li key={index}>{step}</li>)}</ol>}
      {state.verdict === "goes_on" && <span class="soft">nothing of it changes</span>}
      {state.verdict === "migrates" && pairs.length === 0 && <span class="soft">every element keeps its id</span>}
      {pairs.length > 0 && <span>with {pairs.map(([old, now]) => <code key={old} class="impact-pair">{old} → {now}</code>)}</span>}
      {state.goes_around.length > 0 && <span class="soft small">leaves without an answer: {state.goes_around.join(", ")}</span>}
    </div>
  );
}

function Examples({ ids, all }: { ids: string[]; all: number }) {
  return (
    <span class="impact-examples">
      {ids.map((id) => <Link key={id} to={`/instances/${id}`} class="small"><code>{shortId(id)}</code></Link>)}
      {all > ids.length && <span class="soft small">and {all - ids.length} more</span>}
    </span>
  );
}

const STATES: Column<StateImpact>[] = [
  { label: "Verdict", cell: (row) => <Word verdict={row.verdict} /> },
  { label: "Instances", cell: (row) => row.instances.toLocaleString("en"), isNumber: true },
  { label: "On", cell: (row) => <>v{row.version}</> },
  { label: "Standing at", cell: (row) => <Standing state={row} /> },
  { label: "How, or why not", cell: (row) => <Told state={row} /> },
  { label: "Examples", cell: (row) => <Examples ids={row.examples} all={row.instances} /> },
];

const VERBS: Column<VerbImpact>[] = [
  { label: "Verdict", cell: (row) => <Word verdict={row.verdict} /> },
  { label: "Verb", cell: (row) => <><code>{row.verb}</code> <span class="soft small">v{row.version}</span></> },
  { label: "Work", cell: workOf },
  { label: "Why", cell: (row) => row.reason || <span class="soft">the same text is loaded</span> },
];

const CARRIERS: Column<CarrierImpact>[] = [
  { label: "Verdict", cell: (row) => <Word verdict={row.verdict} /> },
  { label: "Build", cell: (row) => <>{row.engine} <code>{row.build}</code></> },
  { label: "Instances", cell: (row) => row.instances.toLocaleString("en"), isNumber: true },
  { label: "Why", cell: (row) => row.reason },
];
