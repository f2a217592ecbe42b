// Documents: every one that was handed in or asked for, found by words, subject, type and status.
import { useEffect, useState } from "preact/hooks";
import { get, mayDo } from "../../api/client";
import type { DocumentItem, DocumentTypeView } from "../../api/paper-shapes";
import type { Page } from "../../api/shapes";
import { List } from "../../lists/list";
import { usePages } from "../../lists/paged-list";
import { type Column, Table } from "../../lists/table";
import { useResource } from "../../live/resource";
import { Blank } from "../../parts/load-states";
import { PageHead } from "../../parts/page-head";
import { Ago } from "../../parts/relative-time";
import { shortId } from "../../parts/short-id";
import { StateBadge } from "../../parts/state-badge";
import { Link, query, setQuery } from "../../router";
import { CreateDocument } from "./create-dialog";

const STATUSES = ["pending", "verified", "rejected", "expired", "superseded"];
const TYPING_MS = 300;

export default function DocumentsPage() {
  const asked = { text: word("text"), subject: word("subject"), type: word("type"), status: word("status") };
  const pages = usePages<DocumentItem>("/documents", asked, (event) => event.kind === "document");
  const types = useResource((signal) => get<Page<DocumentTypeView>>("/document-types", { signal }), []);
  const [isCreating, setCreating] = useState(false);
  const known = types.data?.items ?? [];
  const create = known.length > 0 && mayDo("document.create") && <button type="button" class="button primary" onClick={() => setCreating(true)}>New document</button>;
  return (
    <>
      <PageHead title="Documents" actions={create}><p class="soft">Evidence that was handed in, with its versions and how long each holds.</p></PageHead>
      <Filters types={known.map((each) => each.name)} />
      <List of={pages} label="Documents" nouns={["document", "documents"]} lines={10} none={<None isFiltered={Object.values(asked).some(Boolean)} hasTypes={known.length > 0 || types.isLoading} />}>
        {(rows) => <Table caption="Documents, newest first" columns={COLUMNS} rows={rows} keyOf={(row) => row.id} />}
      </List>
      {isCreating && <CreateDocument types={known} subject={asked.subject} onClose={() => setCreating(false)} />}
    </>
  );
}

function word(name: string): string {
  return query.value.get(name) ?? "";
}

const COLUMNS: Column<DocumentItem>[] = [
  { label: "Document", cell: (row) => <><Link to={`/documents/${row.id}`}>{row.type}</Link><div class="soft small"><code title={row.id}>{shortId(row.id)}</code>{row.version !== null && ` · version ${row.version}`}</div></> },
  { label: "Subject", cell: (row) => (row.subject ? <Link to={`/documents?subject=${encodeURIComponent(row.subject)}`}>{row.subject}</Link> : <span class="soft">nobody</span>) },
  { label: "Status", cell: (row) => <><StateBadge state={row.status} label={row.version === null && row.status === "pending" ? "awaited" : row.status === "pending" ? "to verify" : row.status} />{row.reason && row.status === "rejected" && <div class="soft small"><code>{row.reason}</code></div>}</> },
  { label: "Valid until", cell: (row) => (row.valid_to ? <span class="number">{row.valid_to}</span> : <span class="soft">–</span>) },
  { label: "Created", cell: (row) => <Ago at={row.created_at} /> },
];

function Filters({ types }: { types: string[] }) {
  const status = word("status");
  const type = word("type");
  return (
    <div class="filters" role="search" aria-label="Filter documents">
      <Typed name="text" label="Words" placeholder="in data, type and subject" isSearch />
      <Typed name="subject" label="Subject" placeholder="exact" />
      <div class="field">
        <label for="filter-type">Type</label>
        <select id="filter-type" class="input" value={type} onChange={(event) => setQuery({ type: event.currentTarget.value })}>
          <option value="">All types</option>
          {(type && !types.includes(type) ? [type, ...types] : types).map((each) => <option key={each} value={each}>{each}</option>)}
        </select>
      </div>
      <div class="chips" role="group" aria-label="Status">
        <button type="button" class="chip" aria-pressed={status === ""} onClick={() => setQuery({ status: null })}>Any status</button>
        {STATUSES.map((each) => <button key={each} type="button" class="chip" aria-pressed={status === each} onClick={() => setQuery({ status: each })}>{each}</button>)}
      </div>
    </div>
  );
}

function Typed({ name, label, placeholder, isSearch = false }: { name: string; label: string; placeholder: string; isSearch?: boolean }) {
  const [typed, setTyped] = useState(word(name));
  const shown = word(name);
  useEffect(() => setTyped(shown), [shown]);
  useEffect(() => {
    if (typed.trim() === shown) return undefined;
    const timer = setTimeout(() => setQuery({ [name]: typed.trim() }), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <div class="field">
      <label for={`filter-${name}`}>{label}</label>
      <input id={`filter-${name}`} class="input" type="search" {...(isSearch ? { "data-search": true } : {})} autocomplete="off" placeholder={placeholder} value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
    </div>
  );
}

function None({ isFiltered, hasTypes }: { isFiltered: boolean; hasTypes: boolean }) {
  if (isFiltered) {
    return (
      <Blank title="No document fits">
        <p>None has these words, this subject, type and status together.</p>
        <button type="button" class="button" onClick={() => setQuery({ text: null, subject: null, type: null, status: null })}>Show all</button>
      </Blank>
    );
  }
  if (!hasTypes) return <Blank title="No type of document is declared"><p>A file of definitions with a top-level <code>documents:</code> says which documents there are, what they hold and who verifies them.</p></Blank>;
  return <Blank title="No document yet"><p>One comes about when a client or a colleague hands it in, here or from a terminal:</p><code>perdure documents create passport --subject CLIENT --file passport.pdf</code></Blank>;
}
