// Every verb, searched by what it is called, says and does.
import { useMemo } from "preact/hooks";
import { get } from "../../api/client";
import type { VerbRow } from "../../api/process-shapes";
import type { Page } from "../../api/shapes";
import { useResource } from "../../live/resource";
import { Badge } from "../../parts/state-badge";
import { Blank, Loaded } from "../../parts/load-states";
import { type Column, Table } from "../../lists/table";
import { Link, query, setQuery } from "../../router";

const MOST_SHOWN = 300;

export function Verbs() {
  const found = useResource((signal) => get<Page<VerbRow>>("/verbs", { signal }), []);
  const typed = query.value.get("q") ?? "";
  return (
    <div class="stack">
      <div class="field">
        <label for="verb-search">Search verbs</label>
        <input id="verb-search" class="input" type="search" data-search autocomplete="off" value={typed} onInput={(event) => setQuery({ q: event.currentTarget.value })} />
      </div>
      <section class="card" aria-label="Verbs"><Loaded from={found} lines={10}>{(page) => <List all={page.items} typed={typed} />}</Loaded></section>
    </div>
  );
}

function List({ all, typed }: { all: VerbRow[]; typed: string }) {
  const fitting = useMemo(() => matching(all, typed), [all, typed]);
  if (all.length === 0) return <Blank title="There are no verbs"><p>Verbs are declared in YAML files that <code>perdure.yaml</code> names under <code>definitions</code>.</p></Blank>;
  if (fitting.length === 0) return <Blank title="No verb fits"><p>None has “{typed}” in its name, its description or its sentence.</p></Blank>;
  return (
    <>
      <Table caption="Verbs by name" columns={COLUMNS} rows={fitting.slice(0, MOST_SHOWN)} keyOf={(row) => `${row.name} ${row.version}`} />
      <p class="list-end soft small" role="status">{fitting.length > MOST_SHOWN ? `The first ${MOST_SHOWN} of ${fitting.length}; search to see others` : `${fitting.length} ${fitting.length === 1 ? "verb" : "verbs"}`}</p>
    </>
  );
}

export function matching(all: readonly VerbRow[], typed: string): VerbRow[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return all.filter((row) => {
    const text = [row.name, row.description, ...row.sentences].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

const COLUMNS: Column<VerbRow>[] = [
  { label: "Verb", cell: (row) => <Link to={`/definitions/verbs/${encodeURIComponent(row.name)}`}><code>{row.name}</code></Link> },
  { label: "What it does", cell: (row) => <>{row.description}{row.sentences[0] && <div class="soft small">“{row.sentences[0]}”</div>}</> },
  { label: "Kind", cell: (row) => <span class="row"><Badge tone={row.kind === "durable" ? "odd" : "quiet"}>{row.kind}</Badge>{row.consequence !== "benign" && <Badge tone={TIERS[row.consequence] ?? "quiet"}>{row.consequence.replaceAll("_", " ")}</Badge>}</span> },
];

const TIERS: Record<string, "quiet" | "wait" | "bad"> = { reviewable: "quiet", requires_confirmation: "wait", requires_authorisation: "bad" };
