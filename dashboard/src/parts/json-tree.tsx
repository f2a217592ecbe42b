// JSON as a tree that folds; long texts and lists show their beginning.
import { useState } from "preact/hooks";
import type { Json } from "../api/shapes";

const MAX_SHOWN = 100;
const MAX_TEXT = 2_000;

export function JsonTree({ value, label = "value" }: { value: Json | undefined; label?: string }) {
  if (value === undefined) return <span class="soft">–</span>;
  return <div class="tree" role="group" aria-label={label}><Node value={value} depth={0} /></div>;
}

function Node({ value, name, depth }: { value: Json; name?: string; depth: number }) {
  const key = name === undefined ? null : <><span class="key">{name}</span>: </>;
  if (value === null || typeof value !== "object") return <div>{key}<Scalar value={value} /></div>;
  const entries = Array.isArray(value) ? value.map((each, index) => [String(index), each] as const) : Object.entries(value);
  const brackets = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  if (entries.length === 0) return <div>{key}{Array.isArray(value) ? "[]" : "{}"}</div>;
  return (
    <details open={depth < 2}>
      <summary>{key}<span class="soft">{brackets}</span></summary>
      {entries.slice(0, MAX_SHOWN).map(([each, inner]) => <Node key={each} name={each} value={inner} depth={depth + 1} />)}
      {entries.length > MAX_SHOWN && <div class="soft">and {entries.length - MAX_SHOWN} more</div>}
    </details>
  );
}

function Scalar({ value }: { value: null | boolean | number | string }) {
  const [isWhole, setWhole] = useState(false);
  if (typeof value !== "string") return <span>{String(value)}</span>;
  if (value.length <= MAX_TEXT || isWhole) return <span>"{value}"</span>;
  return <span>"{value.slice(0, MAX_TEXT)}… <button type="button" class="button tight" onClick={() => setWhole(true)}>show all {value.length} characters</button></span>;
}
