// The contract of a process: what its work, waits and people are asked and bring, in the words of its model.
import { get } from "../../api/client";
import type { AwaitedView, ContractView, GateView, MappingView, MirrorView, WayView, WorkView } from "../../api/process-shapes";
import { type Column, Table } from "../../lists/table";
import { useResource } from "../../live/resource";
import { Loaded } from "../../parts/load-states";

export function Contract({ path, version }: { path: string; version: number }) {
  const found = useResource((signal) => get<ContractView>(`${path}/versions/${version}/contract`, { signal }), [path, version]);
  return <Loaded from={found} lines={6}>{(view) => <Shown view={view} />}</Loaded>;
}

function Shown({ view }: { view: ContractView }) {
  return (
    <div class="stack">
      <p>
        Workflow <code>{view.workflow_type}</code>, definition <code>{view.definition_id}</code>, one for each <code>{view.workflow_id}</code>.
      </p>
      {view.work.length > 0 && <Table caption="Work" columns={WORK} rows={view.work} keyOf={(row) => row.element} />}
      {view.waits.length > 0 && <Table caption="Waits" columns={WAITS} rows={view.waits} keyOf={(row) => row.element} />}
      {view.gates.length > 0 && <Table caption="Decisions" columns={GATES} rows={view.gates} keyOf={(row) => row.element} />}
      {view.ways.length > 0 && <Table caption="Ways" columns={WAYS} rows={view.ways} keyOf={(row) => row.flow} />}
      {view.flags.length > 0 && <Table caption="Flags that follow the state" columns={FLAGS} rows={view.flags} keyOf={(row) => row.flag} />}
    </div>
  );
}

function Mapped({ inputs = [], outputs }: { inputs?: MappingView[]; outputs: MappingView[] }) {
  const all = [...inputs, ...outputs];
  if (all.length === 0) return <span class="soft">nothing</span>;
  return <>{all.map((each) => <div key={`${each.source} ${each.target}`}><code class="small">{each.source} → {each.target}</code></div>)}</>;
}

function policy(row: WorkView): string {
  const attempts = `${row.policy}: ${row.attempts} attempt${row.attempts === 1 ? "" : "s"}`;
  if (row.start_to_close_seconds === null) return attempts;
  return `${attempts}, ${row.start_to_close_seconds} s each, ${row.schedule_to_close_seconds} s in all`;
}

const WORK: Column<WorkView>[] = [
  { label: "Element", cell: (row) => <>{row.name} <code class="small">{row.element}</code></> },
  { label: "Type", cell: (row) => <code>{row.type}</code> },
  { label: "Policy", cell: policy },
  { label: "Key", cell: (row) => <code class="small">{row.idempotency_key}</code> },
  { label: "Asks and brings", cell: (row) => <Mapped inputs={row.inputs} outputs={row.outputs} /> },
];
const WAITS: Column<AwaitedView>[] = [
  { label: "Element", cell: (row) => <>{row.name} <code class="small">{row.element}</code></> },
  { label: "Message", cell: (row) => row.message },
  { label: "Key", cell: (row) => <code class="small">{row.correlation_key}</code> },
  { label: "Brings", cell: (row) => <Mapped outputs={row.outputs} /> },
];
const GATES: Column<GateView>[] = [
  { label: "Element", cell: (row) => <>{row.name} <code class="small">{row.element}</code></> },
  { label: "Update", cell: (row) => <code>{row.update}</code> },
  { label: "Asks and brings", cell: (row) => <Mapped inputs={row.inputs} outputs={row.outputs} /> },
];
const WAYS: Column<WayView>[] = [
  { label: "From", cell: (row) => <code class="small">{row.source}</code> },
  { label: "To", cell: (row) => <code class="small">{row.target}</code> },
  { label: "When", cell: (row) => <code class="small">{row.condition}</code> },
];
const FLAGS: Column<MirrorView>[] = [
  { label: "Flag", cell: (row) => <code class="small">{row.flag}</code> },
  { label: "Stands for", cell: (row) => <code class="small">{row.stands_for}</code> },
];
