// What happened to an instance: its moves, and every entry of its journal with the facts that were read for it.
import { useState } from "preact/hooks";
import type { EntryView, MoveView } from "../../api/paper-shapes";
import type { Json } from "../../api/shapes";
import { wordsOf } from "../../history/slider-positions";
import { List } from "../../lists/list";
import { usePages } from "../../lists/paged-list";
import { JsonTree } from "../../parts/json-tree";
import { Exact } from "../../parts/relative-time";

const CAUSES: Record<string, string> = { start: "started", auto: "by itself", manual: "by a person", time: "by time", migration: "by a migration" };

export function Moves({ moves }: { moves: MoveView[] }) {
  if (moves.length === 0) return <p class="soft">It has not moved yet.</p>;
  return (
    <ol class="entries" reversed aria-label="Moves, newest first">
      {[...moves].reverse().map((each, index) => (
        <li key={index}>
          <span class="soft small"><Exact at={each.at} /></span>
          <span><strong>{each.source ? `${each.source} → ${each.target}` : each.target}</strong> {CAUSES[each.cause] ?? each.cause}{each.reason && <> · “{each.reason}”</>}<span class="soft"> · {each.by}</span></span>
        </li>
      ))}
    </ol>
  );
}

export function Journal({ id }: { id: string }) {
  const pages = usePages<EntryView>(`/lifecycles/${id}/history`, {}, (event) => event.id === id);
  return (
    <List of={pages} label="Journal, oldest first" nouns={["entry", "entries"]} none={<p class="soft">It is empty.</p>}>
      {(entries) => <ol class="entries inside">{entries.map((each, index) => <Entry key={index} entry={each} />)}</ol>}
    </List>
  );
}

function Entry({ entry }: { entry: EntryView }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <span class="soft small"><Exact at={entry.at} /></span>
      <span>{wordsOf(entry.entry)}<span class="soft"> · {entry.by}</span></span>
      <details onToggle={(event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}>
        <summary class="soft small">record {entry.sequence}</summary>
        {isOpen && <JsonTree value={entry.data as Json} label={wordsOf(entry.entry)} />}
      </details>
    </li>
  );
}
