// Runbooks: what there is, newest first, with live state, search and filters that stand in the address.
import { useEffect, useRef, useState } from "preact/hooks";
import { mayDo } from "../../api/client";
import { PageHead } from "../../parts/page-head";
import { Blank, Loading, ProblemBox } from "../../parts/load-states";
import { Link, query, setQuery } from "../../router";
import { pageShortcuts } from "../../shortcuts";
import { List } from "./runbook-list";
import { useRows } from "./use-rows";
import "./runbooks.css";

const STATES = ["executing", "parked", "escalated", "failed", "completed", "cancelled", "draft", "quarantined"];
const KINDS = [["runbooks", "Runbooks"], ["calls", "Single calls"], ["all", "Both"]] as const;
const TYPING_MS = 250;

export default function RunbooksPage() {
  const asked = query.value;
  const filters = { state: asked.get("state") ?? "", q: asked.get("q") ?? "", case: asked.get("case") ?? "", kind: asked.get("kind") ?? "" };
  const rows = useRows(filters);
  const isFiltered = Boolean(filters.state || filters.q || filters.case);
  useEffect(() => {
    pageShortcuts.value = [{ keys: "↓ ↑", label: "Next or previous row" }, { keys: "Enter", label: "Open the row" }];
    return () => {
      pageShortcuts.value = [];
    };
  }, []);
  const { known } = rows;
  const count = known.isWhole ? String(known.rows.length) : `${known.rows.length}+`;
  return (
    <div class="runbooks-page">
      <PageHead title="Runbooks" actions={mayDo("runbook.draft") && <Link class="button primary" to="/compose">Compose</Link>}>
        <p class="soft" role="status">{rows.isLoading && known.rows.length === 0 ? "Reading…" : `${count} ${known.rows.length === 1 ? "runbook" : "runbooks"}${isFiltered ? " match" : ""}`}</p>
      </PageHead>
      <div class="filters" role="search" aria-label="Runbooks">
        <SearchField value={filters.q} />
        <div class="chips" role="group" aria-label="State">
          <button type="button" class="chip" aria-pressed={filters.state === ""} onClick={() => setQuery({ state: null })}>All</button>
          {STATES.map((state) => (
            <button key={state} type="button" class="chip" aria-pressed={filters.state === state} onClick={() => setQuery({ state: filters.state === state ? null : state })}>{state}</button>
          ))}
        </div>
        <label class="row">
          <span class="unseen">Kind</span>
          <select class="input fit" value={filters.kind || "runbooks"} onChange={(event) => setQuery({ kind: event.currentTarget.value === "runbooks" ? null : event.currentTarget.value })}>
            {KINDS.map(([kind, label]) => <option key={kind} value={kind}>{label}</option>)}
          </select>
        </label>
        {filters.case && <button type="button" class="chip" aria-pressed="true" onClick={() => setQuery({ case: null })}>case {filters.case} ✕</button>}
      </div>
      {rows.error && <ProblemBox problem={rows.error} retry={rows.retry} />}
      {known.rows.length > 0 ? <List rows={rows} /> : rows.isLoading ? <div class="card"><Loading lines={9} /></div> : !rows.error && <Nothing isFiltered={isFiltered} />}
    </div>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <div class="card">
        <Blank title="Nothing matches">
          <p>Search finds the beginning of an id, a case or an indexed value.</p>
          <button type="button" class="button" onClick={() => setQuery({ state: null, q: null, case: null })}>Clear the filters</button>
        </Blank>
      </div>
    );
  }
  return (
    <div class="card">
      <Blank title="No runbooks yet">
        <p>A runbook is a plan of several verbs. It appears here as soon as it is drafted or started.</p>
        {mayDo("runbook.draft") && <Link class="button primary" to="/compose">Compose the first one</Link>}
      </Blank>
    </div>
  );
}

function SearchField({ value }: { value: string }) {
  const [typed, setTyped] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (document.activeElement !== field.current) setTyped(value);
  }, [value]);
  useEffect(() => {
    if (query.peek().get("search")) {
      field.current?.focus();
      setQuery({ search: null });
    }
    return () => clearTimeout(timer.current);
  }, []);
  const change = (text: string) => {
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setQuery({ q: text.trim() || null }), TYPING_MS);
  };
  return <input ref={field} class="input search" type="search" data-search aria-label="Search runbooks" placeholder="Search by id, case or value" value={typed} onInput={(event) => change(event.currentTarget.value)} />;
}
