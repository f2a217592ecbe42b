// What a runbook waits for, how long it has, and how long is left.
import type { StepView } from "../../api/shapes";
import { Badge } from "../../parts/state-badge";
import { Ago, Left, now } from "../../parts/relative-time";
import { waitOf } from "./runbook-reader";

export function Waits({ steps, onSelect }: { steps: StepView[]; onSelect: (name: string) => void }) {
  const waiting = steps.filter((step) => step.waiting_for && !["completed", "failed", "cancelled", "skipped"].includes(step.state));
  if (waiting.length === 0) return null;
  return (
    <section class="card" aria-labelledby="waits-head">
      <header><h2 id="waits-head">Waiting</h2><span class="push soft">{waiting.length}</span></header>
      <ul class="waits">
        {waiting.map((step) => {
          const wait = step.waiting_for;
          const isStuck = wait?.kind === "incident";
          return (
            <li key={step.name}>
              <button type="button" class="link" onClick={() => onSelect(step.name)}>{step.sentence || step.name}</button>
              <span class="row small">
                <Badge tone={isStuck ? "bad" : "wait"} sign={isStuck ? "!" : "‖"}>{waitOf(step)}</Badge>
                {wait?.since && <span class="soft">since <Ago at={wait.since} /></span>}
                {wait?.due_at && <Left at={wait.due_at} />}
              </span>
              {wait?.due_at && wait.since && <Elapsed since={wait.since} due={wait.due_at} />}
              {(wait?.text || wait?.code) && <span class="small soft">{[wait.code, wait.text].filter(Boolean).join(": ")}</span>}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Elapsed({ since, due }: { since: string; due: string }) {
  const from = Date.parse(since);
  const share = Math.min(1, Math.max(0, (now.value - from) / Math.max(1, Date.parse(due) - from)));
  return <span class="meter" aria-hidden="true"><span style={{ width: `${share * 100}%` }} /></span>;
}
