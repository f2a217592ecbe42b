// One instance: the diagram with its tokens, its history under a slider, what it waits for, its data and its audit trail.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { get } from "../../api/client";
import type { DiagramView, InstanceView } from "../../api/process-shapes";
import { Diagram } from "../../diagrams/diagram";
import { type Marks, NO_MARKS } from "../../diagrams/marks";
import { indexAt, positionsOf } from "../../history/slider-positions";
import { titleOf } from "../../parts/titles";
import { useResource } from "../../live/resource";
import { StateBadge } from "../../parts/state-badge";
import { Identity } from "../../parts/short-id";
import { JsonTree } from "../../parts/json-tree";
import { PageHead } from "../../parts/page-head";
import { Loaded, ProblemBox } from "../../parts/load-states";
import { Tabs } from "../../parts/tabs";
import { Ago } from "../../parts/relative-time";
import { Link, type PageProps } from "../../router";
import { Acts, ENDED } from "./instance-actions";
import { Audit } from "./audit-trail";
import { elementsOf } from "./model-elements";
import "./instance.css";
import { Overrides } from "../../parts/overrides";
import { Incidents, Standing } from "./current-state";
import { HistorySlider } from "./history-slider";
import { useTrail } from "./use-journal";

const SETTLE_MS = 120;

export default function InstancePage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const path = `/instances/${encodeURIComponent(id)}`;
  const live = useResource((signal) => get<InstanceView>(path, { signal }), [id], (event) => event.id === id);
  return <Loaded from={live} lines={12}>{(view) => <Instance key={id} path={path} view={view} reload={live.reload} replace={live.replace} />}</Loaded>;
}

interface InstanceProps { path: string; view: InstanceView; reload: () => void; replace: (view: InstanceView) => void }

function Instance({ path, view: present, reload, replace }: InstanceProps) {
  const [wanted, setWanted] = useState<number | null>(null);
  const at = useSettled(wanted);
  const [chosen, setChosen] = useState("");
  const diagram = useKept(useResource((signal) => get<DiagramView>(`${path}/diagram`, { query: { at }, signal }), [path, at], (event) => at === null && event.id === present.id));
  const past = useKept(useResource(async (signal) => (at === null ? null : get<InstanceView>(path, { query: { at }, signal })), [path, at]));
  const trail = useTrail(`${path}/events`, present.id);
  const elements = useMemo(() => elementsOf(diagram.data?.xml ?? ""), [diagram.data?.xml]);
  const name = useMemo(() => {
    const names = new Map(elements.map((each) => [each.id, each.name]));
    return (element: string) => names.get(element) ?? element;
  }, [elements]);
  const positions = useMemo(() => positionsOf(trail.entries, name), [trail.entries, name]);
  const hasMigrated = useMemo(() => trail.entries.some((each) => each.entry === "InstanceMigrated"), [trail.entries]);
  const isPast = wanted !== null;
  const view = at !== null && past.data ? past.data : present;
  const index = indexAt(positions, wanted);
  const choose = (element: string) => setChosen(element === chosen ? "" : element);
  const show = (to: number) => setWanted(to >= positions.length - 1 ? null : (positions[to]?.sequence ?? null));
  const marks = useMemo(() => marksOf(diagram.data), [diagram.data]);
  const shared = { view, name, isPast, onChange: replace, onElement: choose };
  return (
    <>
      <Head view={present} actions={<Acts view={present} name={name} elements={elements.filter((each) => each.isNode)} hasMigrated={hasMigrated} onChange={replace} onStale={reload} />} />
      <div class="stack">
        <Incidents {...shared} />
        <Overrides overrides={view.overrides} />
        <section class="card" aria-label="Diagram">
          <div class="inside stack">
            {diagram.error && !diagram.data && <ProblemBox problem={diagram.error} retry={diagram.reload} />}
            {diagram.data && <Diagram xml={diagram.data.xml} marks={marks} label={`Diagram of ${present.process}, version ${view.version}`} selected={chosen} onSelect={setChosen} />}
            <Legend />
            <HistorySlider positions={positions} index={index} isNow={!isPast} onIndex={show} onNow={() => setWanted(null)} />
            {isPast && <p class="notice past-note">This is how it was. <button type="button" class="button tight" onClick={() => setWanted(null)}>Back to now</button></p>}
          </div>
        </section>
        <div class="grid">
          <Standing {...shared} />
          <Facts view={view} />
        </div>
        <section class="card"><div class="inside">
          <Tabs
            label="About this instance"
            tabs={[
              { name: "variables", label: "Variables", show: () => <Variables view={view} /> },
              {
                name: "trail", label: `Audit trail (${trail.entries.length}${trail.isComplete ? "" : "…"})`,
                show: () => <Audit trail={trail} positions={positions} only={chosen} name={name} shown={wanted} onShow={(sequence) => show(indexAt(positions, sequence))} onAll={() => setChosen("")} />,
              },
            ]}
          />
        </div></section>
      </div>
    </>
  );
}

function Head({ view, actions }: { view: InstanceView; actions: preact.ComponentChildren }) {
  return (
    <PageHead title={titleOf(view.process, view.business_key)} actions={actions}>
      <span class="row"><StateBadge state={view.state} /><span>{view.progress}</span></span>
      <Identity id={view.id} />
    </PageHead>
  );
}

function Legend() {
  return (
    <p class="diagram-legend" aria-hidden="true">
      <span class="passed"><i />way taken</span><span class="active"><i />token here</span><span class="stuck"><i />stuck</span><span>×2 completed twice</span>
    </p>
  );
}

function Facts({ view }: { view: InstanceView }) {
  const parent = view.parent ? view.parent.split(":") : [];
  return (
    <section class="card" aria-labelledby="facts-title">
      <header><h2 id="facts-title">About</h2></header>
      <dl class="inside facts">
        <dt>Process</dt><dd><Link to={`/definitions/processes/${encodeURIComponent(view.process)}?version=${view.version}`}>{view.process}</Link>, version {view.version}</dd>
        {view.engine && <><dt>Engine</dt><dd>{view.engine}{view.engine_link && <> · <a href={view.engine_link} rel="noreferrer">Open it there</a></>}</dd></>}
        <dt>Started</dt><dd><Ago at={view.started_at} />{view.principal && ` by ${view.principal}`}</dd>
        {view.ended_at && <><dt>Ended</dt><dd><Ago at={view.ended_at} /></dd></>}
        {view.suspended_at && <><dt>Suspended</dt><dd><Ago at={view.suspended_at} /></dd></>}
        {parent.length > 1 && <><dt>Began by</dt><dd>{parent[0] === "step" ? <Link to={`/runbooks/${parent[1]?.split("/")[0] ?? ""}`}>a call</Link> : <Link to={`/instances/${parent[1] ?? ""}`}>another instance</Link>}</dd></>}
        {view.error && <><dt>Error</dt><dd><code>{view.error.code}</code> {view.error.message}</dd></>}
        {view.completed.length > 0 && <><dt>Done</dt><dd>{[...new Set(view.completed)].join(", ")}</dd></>}
        {view.erased_at && <><dt>Data erased</dt><dd><Ago at={view.erased_at} /></dd></>}
      </dl>
    </section>
  );
}

function Variables({ view }: { view: InstanceView }) {
  const flags = Object.entries(view.flags);
  return (
    <div class="grid">
      <div class="stack tight">
        <h3>Flags</h3>
        {flags.length === 0 ? <p class="soft">It has none.</p> : <dl class="facts flags">{flags.map(([flag, value]) => [<dt key={flag}><code>{flag}</code></dt>, <dd key={`${flag}=`}>{value === "" ? <span class="soft">empty</span> : String(value)}</dd>])}</dl>}
      </div>
      <div class="stack tight">
        <h3>Data</h3>
        {view.data === null || view.data === undefined ? <p class="soft">{view.erased_at ? "Erased." : ENDED.has(view.state) ? "None is kept." : "None is shown."}</p> : <JsonTree value={view.data} label="Data" />}
      </div>
    </div>
  );
}

function marksOf(diagram: DiagramView | undefined): Marks {
  if (!diagram) return NO_MARKS;
  const { tokens, completed = [], incidents, path, flows } = diagram.marks;
  return { ...NO_MARKS, tokens, completed, incidents, path, flows };
}

/** A value once it has not changed for a moment: a slider that is dragged asks once, not a hundred times. */
function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** A resource that shows what it had until it has something else: the picture stays while the next one comes. */
function useKept<T, R extends { data: T | undefined }>(resource: R): R {
  const kept = useRef<T | undefined>(undefined);
  if (resource.data !== undefined) kept.current = resource.data;
  return resource.data === undefined ? { ...resource, data: kept.current } : resource;
}
