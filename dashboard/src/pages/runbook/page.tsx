// One runbook: its plan as a graph and in sentences, its time, its waits, its audit trail, and what can be done.
import { useEffect, useState } from "preact/hooks";
import { mayDo, post } from "../../api/client";
import type { RunbookView } from "../../api/shapes";
import { asProblem, useResource } from "../../live/resource";
import { StateBadge } from "../../parts/state-badge";
import { Identity } from "../../parts/short-id";
import { Overrides } from "../../parts/overrides";
import { PageHead } from "../../parts/page-head";
import { Blank, Loaded } from "../../parts/load-states";
import { type Tab, Tabs } from "../../parts/tabs";
import { Ago } from "../../parts/relative-time";
import { durationText } from "../../parts/time-text";
import { tell } from "../../parts/toasts";
import { Undo } from "../../parts/undo-buttons";
import { Link, type PageProps, query, setQuery } from "../../router";
import { pageShortcuts } from "../../shortcuts";
import { Audit } from "./audit-trail";
import { Corrections } from "./corrections";
import { OutcomeEvents } from "./outcome-events";
import { PlanGraph } from "./plan-graph";
import { PlanCard } from "./plan-card";
import { type DraftView, readRunbook, type Shown, titleOf } from "./runbook-reader";
import { RunbookActs } from "./runbook-actions";
import { StartButton } from "./start-button";
import { Steps } from "./step-list";
import { Timeline } from "./timeline";
import { Waits } from "./waits";
import "./runbook.css";

export default function RunbookPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const carriers = (data: Shown | undefined) => data?.view.steps.map((step) => step.carrier?.instance) ?? [];
  const resource = useResource((signal) => readRunbook(id, signal), [id], (event, data) => event.id === id || (event.kind === "instance" && carriers(data).includes(event.id)));
  useEffect(() => {
    pageShortcuts.value = [{ keys: "← →", label: "Move the graph, when it has the focus" }, { keys: "+ -", label: "Zoom the graph" }, { keys: "[ ]", label: "Previous or next step" }];
    return () => {
      pageShortcuts.value = [];
    };
  }, []);
  const shown = resource.data;
  useEffect(() => {
    if (shown) document.title = `${titleOf(shown)} · Perdure`;
  }, [shown]);
  return <Loaded from={resource} lines={12}>{(data) => <Whole shown={data} onDone={resource.reload} />}</Loaded>;
}

function Whole({ shown, onDone }: { shown: Shown; onDone: () => void }) {
  const { view } = shown;
  const select = (name: string) => setQuery({ step: name || null });
  return (
    <div class="runbook-page">
      <PageHead title={titleOf(shown)} actions={<>{shown.draft && <DraftStart shown={shown} onDone={onDone} />}<RunbookActs shown={shown} onDone={onDone} /></>}>
        <div class="row facts-line">
          <StateBadge state={view.state} />
          <span role="status">{shown.draft ? `Revision ${shown.draft.revision} of ${shown.draft.revisions}` : view.progress}</span>
        </div>
        <div class="row small soft facts-line">
          <Identity id={view.id} />
          {view.case && <span>case <Link to={`/runbooks?case=${encodeURIComponent(view.case)}`}>{view.case}</Link></span>}
          <span>by {view.principal}</span>
          <span>started <Ago at={view.started_at} /></span>
          {view.ended_at && view.started_at && <span>took {durationText((Date.parse(view.ended_at) - Date.parse(view.started_at)) / 1000)}</span>}
          {!view.is_sealed && !view.ended_at && shown.kind === "runbook" && !shown.draft && <span>open: steps may be added</span>}
          {view.erased_at && <span>its data was erased</span>}
          {view.error && <span role="alert"><code>{view.error.code}</code> {view.error.message}</span>}
        </div>
      </PageHead>
      {shown.draft ? <DraftBody shown={shown} /> : <Running shown={shown} onSelect={select} onDone={onDone} />}
    </div>
  );
}

function Running({ shown, onSelect, onDone }: { shown: Shown; onSelect: (name: string) => void; onDone: () => void }) {
  const { view, base } = shown;
  const selected = query.value.get("step") ?? "";
  const tabs: Tab[] = [
    { name: "graph", label: "Graph", show: () => <PlanGraph steps={view.steps} selected={selected} onSelect={onSelect} label={`Plan of ${view.steps.length} steps, ${view.progress}.`} /> },
    { name: "timeline", label: "Timeline", show: () => <div class="inside"><div class="stack"><Timeline base={base} id={view.id} onSelect={onSelect} /><OutcomeEvents base={base} id={view.id} steps={view.steps} onSelect={onSelect} /></div></div> },
    { name: "audit", label: "Audit trail", show: () => <div class="inside"><Audit base={base} id={view.id} steps={view.steps} /></div> },
  ];
  return (
    <div class="split">
      <div class="card main-card"><Tabs tabs={tabs} label="Views of the runbook" /></div>
      <div class="stack beside">
        <Waits steps={view.steps} onSelect={onSelect} />
        <Overrides overrides={view.overrides} />
        {shown.call && shown.call.amendments.length > 0 && <Corrections call={shown.call} onDone={onDone} />}
        <section class="card steps-card" aria-labelledby="steps-head">
          <header><h2 id="steps-head">Steps</h2><span class="push soft">{view.steps.length}</span></header>
          {view.steps.length === 0 ? <Blank title="No steps yet" /> : <Steps shown={shown} selected={selected} onSelect={onSelect} onDone={onDone} />}
        </section>
      </div>
    </div>
  );
}

function DraftStart({ shown, onDone }: { shown: Shown; onDone: () => void }) {
  const draft = shown.draft;
  const started = () => {
    tell("It runs");
    onDone();
  };
  return (
    <>
      {draft && mayDo("runbook.draft") && <DraftUndo draft={draft} onDone={onDone} />}
      {mayDo("runbook.draft") && <Link class="button" to={`/compose?draft=${shown.view.id}`}>Edit</Link>}
      {draft?.plan && mayDo("runbook.start") && <StartButton plan={draft.plan} start={(confirm, phrase) => post<RunbookView>(`/drafts/${shown.view.id}/start`, { confirm, phrase })} onStarted={started} />}
    </>
  );
}

/** What was kept can be taken back as well: every revision stays in the journal. */
function DraftUndo({ draft, onDone }: { draft: DraftView; onDone: () => void }) {
  // An act names the state it was decided on, so the next one waits until the page shows what the last one answered with.
  const [awaited, setAwaited] = useState(0);
  const act = (word: "undo" | "redo") => async () => {
    setAwaited(Infinity);
    try {
      setAwaited((await post<DraftView>(`/drafts/${draft.id}/${word}`, {}, { etag: `"${draft.sequence}"` })).sequence);
    } catch (error) {
      tell(asProblem(error).message, { isBad: true });
      setAwaited(0);
    }
    onDone();
  };
  return <Undo undo={draft.revision > 1 ? act("undo") : undefined} redo={draft.revision < draft.revisions ? act("redo") : undefined} isDisabled={draft.sequence < awaited} />;
}

function DraftBody({ shown }: { shown: Shown }) {
  const draft = shown.draft;
  if (!draft) return null;
  const selected = query.value.get("step") ?? "";
  return (
    <div class="split">
      <div class="stack">
        {draft.problems.length > 0 && (
          <div class="problem" role="alert">
            <strong>It cannot run yet</strong>
            <ul>{draft.problems.map((fault, index) => <li key={index}>{fault.step > 0 ? `Step ${fault.step}: ` : ""}{fault.message} {fault.hint} <code class="small">{fault.code}</code></li>)}</ul>
          </div>
        )}
        {draft.plan && <div class="card main-card"><PlanGraph steps={draft.plan.steps.map((step) => ({ ...step, state: "planned" }))} selected={selected} onSelect={(name) => setQuery({ step: name || null })} label={`Plan of ${draft.plan.steps.length} steps.`} /></div>}
        <section class="card" aria-label="Program"><header><h2>As text</h2></header><div class="inside"><pre>{draft.program || "Nothing is written yet."}</pre></div></section>
      </div>
      <section class="card" aria-labelledby="plan-head"><header><h2 id="plan-head">What it would do</h2></header><div class="inside">{draft.plan ? <PlanCard plan={draft.plan} /> : <Blank title="No plan yet"><p>Something has to be put right first.</p></Blank>}</div></section>
    </div>
  );
}
