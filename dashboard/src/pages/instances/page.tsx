// Instances: every running and ended process, filtered by process, state and business key.
import { useEffect, useState } from "preact/hooks";
import { get } from "../../api/client";
import type { InstanceRow, ProcessVersion } from "../../api/process-shapes";
import type { Page } from "../../api/shapes";
import { List } from "../../lists/list";
import { usePages } from "../../lists/paged-list";
import { type Column, Table } from "../../lists/table";
import { useResource } from "../../live/resource";
import { Badge, StateBadge } from "../../parts/state-badge";
import { shortId } from "../../parts/short-id";
import { PageHead } from "../../parts/page-head";
import { Blank } from "../../parts/load-states";
import { Ago } from "../../parts/relative-time";
import { titleOf } from "../../parts/titles";
import { Link, query, setQuery } from "../../router";

const STATES = ["active", "suspended", "completed", "failed", "cancelled", "compensating", "compensated", "terminated", "quarantined"];
const TYPING_MS = 300;

export default function InstancesPage() {
  const asked = { process: query.value.get("process") ?? "", state: query.value.get("state") ?? "", business_key: query.value.get("key") ?? "" };
  const pages = usePages<InstanceRow>("/instances", asked, (event) => event.kind === "instance");
  const isFiltered = Object.values(asked).some(Boolean);
  return (
    <>
      <PageHead title="Instances"><p class="soft">Processes that run, wait or have ended.</p></PageHead>
      <Filters />
      <List of={pages} label="Instances" nouns={["instance", "instances"]} lines={10} none={<None isFiltered={isFiltered} />}>
        {(rows) => <Table caption="Instances, newest first" columns={COLUMNS} rows={rows} keyOf={(row) => row.id} />}
      </List>
    </>
  );
}

const COLUMNS: Column<InstanceRow>[] = [
  {
    label: "Instance",
    cell: (row) => (
      <>
        <Link to={`/instances/${row.id}`}>{titleOf(row.process || "unknown process", row.business_key)}</Link>
        <div class="soft small"><code title={row.id}>{shortId(row.id)}</code> · version {row.version}</div>
      </>
    ),
  },
  {
    label: "State",
    cell: (row) => (
      <span class="row">
        <StateBadge state={row.state} />
        {row.incidents > 0 && <Badge tone="bad" sign="!">{row.incidents} stuck</Badge>}
      </span>
    ),
  },
  { label: "Progress", cell: (row) => row.progress },
  { label: "Started", cell: (row) => <><Ago at={row.started_at} />{row.principal && <div class="soft small">by {row.principal}</div>}</> },
];

function Filters() {
  const processes = useResource((signal) => get<Page<ProcessVersion>>("/processes", { signal }), [], (event) => event.kind === "process");
  const state = query.value.get("state") ?? "";
  const process = query.value.get("process") ?? "";
  const names = [...new Set([...(processes.data?.items ?? []).map((each) => each.process), ...(process ? [process] : [])])].sort();
  return (
    <div class="filters" role="search" aria-label="Filter instances">
      <div class="field">
        <label for="filter-process">Process</label>
        <select id="filter-process" class="input" value={process} onChange={(event) => setQuery({ process: event.currentTarget.value })}>
          <option value="">All processes</option>
          {names.map((each) => <option key={each} value={each}>{each}</option>)}
        </select>
      </div>
      <KeyFilter />
      <div class="chips" role="group" aria-label="State">
        <button type="button" class="chip" aria-pressed={state === ""} onClick={() => setQuery({ state: null })}>Any state</button>
        {STATES.map((each) => (
          <button key={each} type="button" class="chip" aria-pressed={state === each} onClick={() => setQuery({ state: each })}>{each}</button>
        ))}
      </div>
    </div>
  );
}

function KeyFilter() {
  const [typed, setTyped] = useState(query.value.get("key") ?? "");
  useEffect(() => {
    const timer = setTimeout(() => setQuery({ key: typed.trim() }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <div class="field">
      <label for="filter-key">Business key</label>
      <input id="filter-key" class="input" type="search" data-search autocomplete="off" placeholder="exact" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
    </div>
  );
}

function None({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Blank title="No instance fits">
        <p>None has this state, process and business key together.</p>
        <button type="button" class="button" onClick={() => setQuery({ process: null, state: null, key: null })}>Show all</button>
      </Blank>
    );
  }
  return <Blank title="No process has run yet"><p>An instance begins when somebody calls a durable verb, a message arrives that starts a process, or a timer fires.</p></Blank>;
}
