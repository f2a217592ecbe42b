// The audit trail of an instance: every entry of its journal, newest first, with who and why.
import { useState } from "preact/hooks";
import type { EventView, Json } from "../../api/shapes";
import { type Position, sentenceOf, wordsOf } from "../../history/positions";
import { JsonTree } from "../../parts/json";
import { ProblemBox } from "../../parts/states";
import { exactText } from "../../parts/time-text";
import type { Trail } from "./trail";

const STEP = 100;

export function Audit({ trail, positions, only, name, shown, onShow }: { trail: Trail; positions: Position[]; only: string; name: (element: string) => string; shown: number | null; onShow: (sequence: number) => void }) {
  const [count, setCount] = useState(STEP);
  const wanted = new Set(only ? positions.filter((each) => each.elements.includes(only)).map((each) => each.sequence) : []);
  const entries = only ? trail.entries.filter((each) => wanted.has(each.sequence)) : trail.entries;
  const latest = entries.slice(-count).reverse();
  return (
    <div class="stack">
      {trail.error && <ProblemBox problem={trail.error} />}
      {only && <p class="soft">Only what happened at {name(only)}.</p>}
      <ol class="trail" reversed aria-label="Audit trail, newest first">
        {latest.map((entry, index) => <Entry key={`${entry.sequence}-${entries.length - index}`} entry={entry} name={name} isHere={entry.sequence === shown} onShow={onShow} />)}
      </ol>
      {entries.length === 0 && trail.isComplete && <p class="soft">Nothing has happened here.</p>}
      {entries.length > count && <button type="button" class="button" onClick={() => setCount(count + STEP)}>Show {Math.min(STEP, entries.length - count)} earlier of {entries.length - count}</button>}
    </div>
  );
}

function Entry({ entry, name, isHere, onShow }: { entry: EventView; name: (element: string) => string; isHere: boolean; onShow: (sequence: number) => void }) {
  const element = typeof entry.data["element"] === "string" ? (entry.data["element"] as string) : "";
  const reason = typeof entry.data["reason"] === "string" ? (entry.data["reason"] as string) : "";
  return (
    <li class={isHere ? "here" : ""}>
      <button type="button" class="button tight quiet number" aria-label={`Show record ${entry.sequence} in the picture`} onClick={() => onShow(entry.sequence)}>{entry.sequence}</button>
      <span class="soft small number">{entry.at ? exactText(entry.at) : ""}</span>
      <span>{sentenceOf(entry, element ? name(element) : "")}{reason && <> · “{reason}”</>}{entry.principal && <span class="soft"> · {entry.principal}</span>}</span>
      <details>
        <summary class="soft small">{wordsOf(entry.entry)}{entry.command ? `, by ${entry.command}` : ""}</summary>
        <JsonTree value={entry.data as Json} label={`Entry ${entry.sequence}`} />
      </details>
    </li>
  );
}
