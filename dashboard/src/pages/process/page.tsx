// One process: its versions, its diagram with what lint and a proof find in it, and taking versions out of use.
import { useMemo, useState } from "preact/hooks";
import { get, mayDo, post } from "../../api/client";
import type { ProcessVersion, ProcessView, Versions } from "../../api/process-shapes";
import { Diagram } from "../../diagrams/diagram";
import { NO_MARKS } from "../../diagrams/marks";
import { type Resource, useResource } from "../../live/resource";
import { StateBadge } from "../../parts/state-badge";
import { Confirm } from "../../parts/dialog";
import { JsonTree } from "../../parts/json-tree";
import { PageHead } from "../../parts/page-head";
import { Loaded } from "../../parts/load-states";
import { type Column, Table } from "../../lists/table";
import { Tabs } from "../../parts/tabs";
import { Ago } from "../../parts/relative-time";
import { tell } from "../../parts/toasts";
import { Link, type PageProps, query, setQuery } from "../../router";
import { Contract } from "./contract";
import { findingMarks, Findings, Verdict } from "../definitions/findings";
import { TierBadge } from "../runbook/start-button";
import "../instance/instance.css";

export default function ProcessPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const path = `/processes/${encodeURIComponent(id)}`;
  const versions = useResource((signal) => get<Versions>(path, { signal }), [id], (event) => event.kind === "process");
  return <Loaded from={versions} lines={10}>{(found) => <Process id={id} path={path} versions={found.versions} from={versions} />}</Loaded>;
}

interface ProcessProps { id: string; path: string; versions: ProcessVersion[]; from: Resource<Versions> }

function Process({ id, path, versions, from }: ProcessProps) {
  const latest = versions.find((each) => each.is_latest) ?? versions[versions.length - 1];
  const asked = Number(query.value.get("version"));
  const version = versions.find((each) => each.version === asked) ?? latest;
  const actions = <Link class="button" to={`/instances?process=${encodeURIComponent(id)}`}>Its instances</Link>;
  return (
    <>
      <PageHead title={id} actions={actions}>
        {version && (
          <span class="row">
            <label class="row">Version
              <select class="input fit" value={String(version.version)} onChange={(event) => setQuery({ version: event.currentTarget.value })}>
                {[...versions].reverse().map((each) => <option key={each.version} value={String(each.version)}>{each.version}{each.is_latest ? " (latest)" : ""}</option>)}
              </select>
            </label>
            <StateBadge state={version.status} />
            {version.verb && <span>carries <Link to={`/definitions/verbs/${encodeURIComponent(version.verb)}`}><code>{version.verb}</code></Link></span>}
          </span>
        )}
      </PageHead>
      {version && <Version path={path} version={version} versions={versions} from={from} />}
    </>
  );
}

function Version({ path, version, versions, from }: { path: string; version: ProcessVersion; versions: ProcessVersion[]; from: Resource<Versions> }) {
  const [chosen, setChosen] = useState("");
  const found = useResource((signal) => get<ProcessView>(`${path}/versions/${version.version}`, { signal }), [path, version.version]);
  return (
    <Loaded from={found} lines={10}>
      {(view) => <Shown view={view} chosen={chosen} onElement={setChosen} path={path} versions={versions} from={from} />}
    </Loaded>
  );
}

interface ShownProps { view: ProcessView; chosen: string; onElement: (element: string) => void; path: string; versions: ProcessVersion[]; from: Resource<Versions> }

function Shown({ view, chosen, onElement, path, versions, from }: ShownProps) {
  const marks = useMemo(() => ({ ...NO_MARKS, findings: findingMarks(view.findings, view.verdict ? [view.verdict] : []) }), [view]);
  const name = (element: string) => view.elements.find((each) => each.id === element)?.name || element;
  const all = [...view.findings, ...(view.verdict?.findings ?? [])];
  return (
    <div class="stack">
      <section class="card" aria-label="Diagram"><div class="inside">
        <Diagram xml={view.xml} marks={marks} label={`Diagram of ${view.process}, version ${view.version}`} selected={chosen} onSelect={onElement} />
      </div></section>
      <section class="card" aria-labelledby="findings-title">
        <header><h2 id="findings-title">Lint and proof</h2>{view.engine && <span class="push soft small">Instances begin on {view.engine}</span>}</header>
        <div class="inside stack">
          <Verdict proof={view.verdict} />
          {all.length === 0 ? <p class="soft">Lint finds nothing.</p> : <Findings findings={all} name={name} onElement={onElement} />}
        </div>
      </section>
      <section class="card"><div class="inside">
        <Tabs
          label="About this process"
          tabs={[
            ...(view.profile === "contract" ? [{ name: "contract", label: "Contract", show: () => <Contract path={path} version={view.version} /> }] : []),
            { name: "versions", label: `Versions (${versions.length})`, show: () => <VersionList path={path} versions={versions} from={from} /> },
            { name: "elements", label: "Elements", show: () => <Table caption="Elements" columns={ELEMENTS} rows={view.elements} keyOf={(row) => row.id} /> },
            { name: "flags", label: "Flags", show: () => <JsonTree value={view.flags} label="Flags" /> },
          ]}
        />
      </div></section>
    </div>
  );
}

const ELEMENTS: Column<ProcessView["elements"][number]>[] = [
  { label: "Element", cell: (row) => <>{row.name || <span class="soft">unnamed</span>} <code class="small">{row.id}</code></> },
  { label: "Kind", cell: (row) => row.kind },
  { label: "Does", cell: (row) => (row.type ? <code>{row.type}</code> : <span class="soft">–</span>) },
];

function VersionList({ path, versions, from }: { path: string; versions: ProcessVersion[]; from: Resource<Versions> }) {
  const [open, setOpen] = useState<{ act: "retire" | "deprecate"; version: number } | null>(null);
  const columns: Column<ProcessVersion>[] = [
    { label: "Version", cell: (row) => <Link to={`${location.pathname}?version=${row.version}`}>{row.version}{row.is_latest ? " (latest)" : ""}</Link> },
    { label: "Status", cell: (row) => <StateBadge state={row.status} /> },
    { label: "Deployed", cell: (row) => <><Ago at={row.deployed_at} />{row.by && <span class="soft"> by {row.by}</span>}</> },
    { label: "Consequence", cell: (row) => (row.consequence ? <TierBadge tier={row.consequence} /> : <span class="soft">–</span>) },
    { label: "Content", cell: (row) => <code class="small" title={row.hash}>{row.hash.slice(0, 19)}…</code> },
    {
      label: "Acts",
      cell: (row) => (
        <span class="row">
          {row.status === "active" && mayDo("process.deprecate") && <button type="button" class="button tight" onClick={() => setOpen({ act: "deprecate", version: row.version })}>Deprecate</button>}
          {row.status !== "retired" && mayDo("process.retire") && <button type="button" class="button tight danger" onClick={() => setOpen({ act: "retire", version: row.version })}>Retire</button>}
        </span>
      ),
    },
  ];
  const run = async (reason: string) => {
    if (!open) return;
    from.replace(await post<Versions>(`${path}/versions/${open.version}/${open.act}`, { reason }));
    tell(open.act === "retire" ? "Retired" : "Deprecated");
  };
  return (
    <>
      <Table caption="Versions" columns={columns} rows={[...versions].reverse()} keyOf={(row) => String(row.version)} />
      {open && (
        <Confirm title={`${open.act === "retire" ? "Retire" : "Deprecate"} version ${open.version}?`} act={open.act === "retire" ? "Retire" : "Deprecate"} isDangerous={open.act === "retire"} onAct={run} onClose={() => setOpen(null)}>
          <p>{open.act === "retire" ? "No instance begins under it any more; those that run go on." : "Instances begin under it only when it is asked for by its number."}</p>
        </Confirm>
      )}
    </>
  );
}
