// One instance of a lifecycle: where it stands, what it requires and who can bring it, where it may go, what happened.
import { useState } from "preact/hooks";
import { get, mayDo, post } from "../../api/client";
import type { LifecycleDrawing, LifecycleStatus } from "../../api/paper-shapes";
import { type Resource, useResource } from "../../live/resource";
import { Confirm } from "../../parts/dialog";
import { Loaded, ProblemBox } from "../../parts/load-states";
import { PageHead } from "../../parts/page-head";
import { Ago } from "../../parts/relative-time";
import { Identity } from "../../parts/short-id";
import { Badge, StateBadge } from "../../parts/state-badge";
import { Tabs } from "../../parts/tabs";
import { tell } from "../../parts/toasts";
import { Link, type PageProps } from "../../router";
import { Actions } from "./offered-actions";
import { Checklist } from "./checklist";
import { Journal, Moves } from "./instance-history";
import { SubjectDocuments } from "./subject-documents";
import { Tasks } from "./pending-tasks";
import { Transitions } from "./transitions";
import "./lifecycle.css";

export default function LifecyclePage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const status = useResource((signal) => get<LifecycleStatus>(`/lifecycles/${id}`, { signal }), [id], (event, data) => event.id === id || (event.kind === "document" && data?.status === "active"));
  return <Loaded from={status} lines={12}>{(data) => <Instance key={id} status={data} from={status} />}</Loaded>;
}

function Instance({ status, from }: { status: LifecycleStatus; from: Resource<LifecycleStatus> }) {
  const shared = { status, onChange: from.replace };
  return (
    <>
      <Head {...shared} />
      <div class="stack">
        {status.stuck && <p class="problem" role="alert"><strong>Stuck</strong><span>{status.stuck.text}</span><span class="soft">since <Ago at={status.stuck.since} /> · <code>{status.stuck.code}</code>{mayDo("lifecycle.look") && " · “Look again” once it is mended."}</span></p>}
        {status.migration && <p class="notice wait">{status.migration.by} wants to go on under version {status.migration.version} in {status.migration.state}, because “{status.migration.reason}”. A second person has to agree.</p>}
        <Drawing id={status.id} state={status.state} sequence={status.sequence} lifecycle={status.lifecycle} />
        <div class="grid">
          <Checklist {...shared} />
          <Transitions {...shared} />
        </div>
        <Actions actions={status.actions} />
        <Tasks tasks={status.tasks} />
        <div class="grid">
          <SubjectDocuments subject={status.subject} />
          <About status={status} />
        </div>
        <section class="card"><div class="inside">
          <Tabs
            label="History of this lifecycle"
            tabs={[
              { name: "moves", label: `Moves (${status.history.length})`, show: () => <Moves moves={status.history} /> },
              { name: "journal", label: "Journal", show: () => <Journal id={status.id} /> },
            ]}
          />
        </div></section>
      </div>
    </>
  );
}

interface Shared { status: LifecycleStatus; onChange: (status: LifecycleStatus) => void }

function Head({ status, onChange }: Shared) {
  const [isCancelling, setCancelling] = useState(false);
  const look = async () => {
    try {
      onChange(await post<LifecycleStatus>(`/lifecycles/${status.id}/look`));
      tell("Looked at again");
    } catch (error) {
      tell(error instanceof Error ? error.message : String(error), { isBad: true });
    }
  };
  const cancel = async (reason: string) => {
    onChange(await post<LifecycleStatus>(`/lifecycles/${status.id}/cancel`, { reason }));
    tell("Cancelled");
  };
  const isActive = status.status === "active";
  const acts = (
    <>
      {isActive && mayDo("lifecycle.look") && <button type="button" class="button" onClick={() => void look()}>Look again</button>}
      {isActive && mayDo("lifecycle.cancel") && <button type="button" class="button danger" onClick={() => setCancelling(true)}>Cancel</button>}
    </>
  );
  return (
    <PageHead title={`${status.subject} · ${status.lifecycle}`} actions={acts}>
      <span class="row">
        <StateBadge state={status.status} label={status.state} />
        {status.status !== "active" && <StateBadge state={status.status} />}
        {status.is_overdue && <Badge tone="bad" sign="!">overdue</Badge>}
        <span class="soft">entered <Ago at={status.entered_at} /></span>
      </span>
      {status.description && <p>{status.description}</p>}
      <label class="row small soft way">{status.progress} % of the way<progress max={100} value={status.progress} /></label>
      {isCancelling && (
        <Confirm title="Cancel this lifecycle?" act="Cancel it" isDangerous reason="required" onAct={cancel} onClose={() => setCancelling(false)}>
          <p>It ends where it is, and everything it asked for ends with it. What was handed in stays.</p>
        </Confirm>
      )}
    </PageHead>
  );
}

function Drawing({ id, state, sequence, lifecycle }: { id: string; state: string; sequence: number; lifecycle: string }) {
  const drawing = useResource((signal) => get<LifecycleDrawing>(`/lifecycles/${id}/drawing`, { signal }), [id, state, sequence]);
  const [kept, setKept] = useState<LifecycleDrawing>();
  if (drawing.data && drawing.data !== kept) setKept(drawing.data);
  const shown = drawing.data ?? kept;
  if (!shown) return drawing.error ? <ProblemBox problem={drawing.error} retry={drawing.reload} /> : null;
  const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(shown.svg) ?? [];
  // A picture, not markup: whatever a name in it says, nothing in it can run.
  return (
    <div class="drawing" role="group" tabIndex={0} aria-label="Drawing">
      <img width={width} height={height} src={`data:image/svg+xml;charset=utf-8,${encodeURIComponent(shown.svg)}`} alt={`The states of ${lifecycle}; the present one is ${shown.state}.`} />
    </div>
  );
}

function About({ status }: { status: LifecycleStatus }) {
  return (
    <section class="card" aria-labelledby="about-title">
      <header><h2 id="about-title">About</h2></header>
      <dl class="inside facts">
        <dt>Lifecycle</dt><dd><Link to={`/lifecycles?lifecycle=${encodeURIComponent(status.lifecycle)}`}>{status.lifecycle}</Link>, version {status.version}</dd>
        <dt>Subject</dt><dd><Link to={`/lifecycles?lifecycle=${encodeURIComponent(status.lifecycle)}&subject=${encodeURIComponent(status.subject)}`}>{status.subject}</Link></dd>
        <dt>Started</dt><dd><Ago at={status.started_at} />{status.started_by && ` by ${status.started_by}`}</dd>
        {status.ended_at && <><dt>Ended</dt><dd><Ago at={status.ended_at} /></dd></>}
        <dt>Id</dt><dd><Identity id={status.id} /></dd>
      </dl>
    </section>
  );
}
