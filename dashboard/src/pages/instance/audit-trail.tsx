// The audit trail of an instance: every record of its journal, newest first, with who and why; its entries inside.
import { useMemo, useState } from "preact/hooks";
import type { EventView, Json } from "../../api/shapes";
import { type Position, wordsOf } from "../../history/slider-positions";
import { JsonTree } from "../../parts/json-tree";
import { ProblemBox } from "../../parts/load-states";
import { exactText } from "../../parts/time-text";
import type { Trail } from "./use-journal";

const STEP = 50;

interface AuditProps {
  trail: Trail; positions: Position[]; name: (element: string) => string; shown: number | null; onShow: (sequence: number) => void;
  /** Only what happened at this element; empty for everything. */
  only: string; onAll: () => void;
}

export function Audit({ trail, positions, only, name, shown, onShow, onAll }: AuditProps) {
  const [count, setCount] = useState(STEP);
  const records = useMemo(() => recordsOf(trail.entries), [trail.entries]);
  const wanted = only ? positions.filter((each) => each.elements.includes(only)) : positions;
  const latest = wanted.slice(-count).reverse();
  const rest = wanted.length - latest.length;
  return (
    <div class="stack">
      {trail.error && <ProblemBox problem={trail.error} />}
      {only && <p class="row"><span>Only what happened at {name(only)}.</span><button type="button" class="button tight" onClick={onAll}>Show everything</button></p>}
      <ol class="trail" reversed aria-label="Audit trail, newest first">
        {latest.map((each) => <Line key={each.sequence} position={each} entries={records.get(each.sequence) ?? []} isHere={each.sequence === shown} onShow={onShow} />)}
      </ol>
      {wanted.length === 0 && trail.isComplete && <p class="soft">Nothing has happened here.</p>}
      {rest > 0 && <button type="button" class="button" onClick={() => setCount(count + STEP)}>Show {Math.min(STEP, rest)} earlier of {rest}</button>}
    </div>
  );
}

function recordsOf(entries: readonly EventView[]): Map<number, EventView[]> {
  const found = new Map<number, EventView[]>();
  for (const entry of entries) {
    const record = found.get(entry.sequence);
    if (record) record.push(entry);
    else found.set(entry.sequence, [entry]);
  }
  return found;
}

function Line({ position, entries, isHere, onShow }: { position: Position; entries: EventView[]; isHere: boolean; onShow: (sequence: number) => void }) {
  const [isOpen, setOpen] = useState(false);
  const first = entries[0];
  const reason = entries.map((each) => each.data["reason"]).find((each): each is string => typeof each === "string" && each !== "");
  return (
    <li class={isHere ? "here" : ""}>
      <button type="button" class="button tight quiet number" aria-label={`Show record ${position.sequence} in the picture`} onClick={() => onShow(position.sequence)}>{position.sequence}</button>
      <span class="soft small number">{position.at ? exactText(position.at) : ""}</span>
      <span>{position.text}{reason && <> · “{reason}”</>}{first?.principal && <span class="soft"> · {first.principal}{first.key ? ` by key ${first.key}` : ""}</span>}</span>
      <details onToggle={(event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}>
        <summary class="soft small">{entries.length} {entries.length === 1 ? "entry" : "entries"}{first?.command ? ` by ${first.command}` : ""}</summary>
        {isOpen && <ul class="trail-entries">{entries.map((each, index) => <li key={index}>{wordsOf(each.entry)}<JsonTree value={each.data as Json} label={wordsOf(each.entry)} /></li>)}</ul>}
      </details>
    </li>
  );
}
