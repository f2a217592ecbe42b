// Packs: guided journeys over verbs, each with its questions and what it hands over to.
import { useState } from "preact/hooks";
import { get } from "../../api/client";
import type { PackRow } from "../../api/process-shapes";
import type { Json, Page } from "../../api/shapes";
import { useResource } from "../../live/resource";
import { JsonTree } from "../../parts/json-tree";
import { Blank, Loaded } from "../../parts/load-states";
import "../instance/instance.css";

export function Packs() {
  const found = useResource((signal) => get<Page<PackRow>>("/packs", { signal }), []);
  return (
    <section class="card" aria-label="Packs">
      <Loaded from={found} lines={5}>
        {(page) => page.items.length === 0 ? (
          <Blank title="There are no packs"><p>A pack is a YAML file in the folder <code>packs</code>: questions, and the runbook that their answers lead to.</p></Blank>
        ) : <ul class="inside plain-list">{page.items.map((each) => <li key={each.id}><Pack row={each} /></li>)}</ul>}
      </Loaded>
    </section>
  );
}

function Pack({ row }: { row: PackRow }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}>
      <summary><strong>{row.name}</strong> <span class="soft">{row.id}, version {row.version}</span></summary>
      <div class="stack tight">
        <p>{row.description}</p>
        <p class="soft small">{row.questions} {row.questions === 1 ? "question" : "questions"}{row.templates.length > 0 && `; makes ${row.templates.join(", ")}`}</p>
        {isOpen && <PackWhole id={row.id} />}
      </div>
    </details>
  );
}

interface Question { id?: string; prompt?: string; text?: string; question?: string; required?: boolean }

function PackWhole({ id }: { id: string }) {
  const found = useResource((signal) => get<Record<string, Json>>(`/packs/${encodeURIComponent(id)}`, { signal }), [id]);
  return (
    <Loaded from={found} lines={3}>
      {(pack) => (
        <>
          {Array.isArray(pack["questions"]) && pack["questions"].length > 0 && (
            <ol>{(pack["questions"] as unknown as Question[]).map((each, index) => <li key={each.id ?? index}>{each.prompt ?? each.question ?? each.text ?? each.id}</li>)}</ol>
          )}
          <details><summary class="soft small">All it says</summary><JsonTree value={pack} label={`Pack ${id}`} /></details>
        </>
      )}
    </Loaded>
  );
}
