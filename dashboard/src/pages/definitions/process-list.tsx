// Every deployed process in its latest version.
import { get } from "../../api/client";
import type { ProcessVersion } from "../../api/process-shapes";
import type { Page } from "../../api/shapes";
import { useResource } from "../../live/resource";
import { StateBadge } from "../../parts/state-badge";
import { Blank, Loaded } from "../../parts/load-states";
import { type Column, Table } from "../../lists/table";
import { Ago } from "../../parts/relative-time";
import { Link } from "../../router";

export function Processes() {
  const found = useResource((signal) => get<Page<ProcessVersion>>("/processes", { signal }), [], (event) => event.kind === "process");
  return (
    <section class="card" aria-label="Processes">
      <Loaded from={found} lines={6}>
        {(page) => page.items.length === 0 ? (
          <Blank title="No process is deployed"><p>Put a BPMN file into the folder <code>models</code> beside the definitions, or deploy one here.</p></Blank>
        ) : <Table caption="Processes" columns={COLUMNS} rows={page.items} keyOf={(row) => row.process} />}
      </Loaded>
    </section>
  );
}

const COLUMNS: Column<ProcessVersion>[] = [
  { label: "Process", cell: (row) => <Link to={`/definitions/processes/${encodeURIComponent(row.process)}`}>{row.process}</Link> },
  { label: "Latest", cell: (row) => <>version {row.version}</>, isNumber: true },
  { label: "Status", cell: (row) => <StateBadge state={row.status} /> },
  { label: "Carries", cell: (row) => (row.verb ? <Link to={`/definitions/verbs/${encodeURIComponent(row.verb)}`}><code>{row.verb}</code></Link> : <span class="soft">no verb</span>) },
  { label: "Deployed", cell: (row) => <><Ago at={row.deployed_at} />{row.by && <span class="soft"> by {row.by}</span>}</> },
];
