// The requirements of the present state as a checklist; what is missing has a button that makes the exact call.
import { useState } from "preact/hooks";
import { mayDo, post } from "../../api/client";
import type { BlockerView, LifecycleStatus, RequirementView } from "../../api/paper-shapes";
import { type Agreed, Confirm } from "../../parts/dialog";
import { Ago } from "../../parts/relative-time";
import { Badge } from "../../parts/state-badge";
import { tell } from "../../parts/toasts";
import { isAsked } from "./task-state";

interface ChecklistProps { status: LifecycleStatus; onChange: (status: LifecycleStatus) => void }

export function Checklist({ status, onChange }: ChecklistProps) {
  const [open, setOpen] = useState<BlockerView | null>(null);
  const met = status.requirements.filter((each) => each.is_met).length;
  const blockers = new Map(status.blockers.map((each) => [each.key, each]));
  const run = async (_: string, __: string, agreed: Agreed) => {
    if (!open) return;
    onChange(await post<LifecycleStatus>(`/lifecycles/${status.id}/resolve`, { key: open.key, ...agreed }));
    tell("Asked for");
  };
  return (
    <section class="card" aria-labelledby="required-title">
      <header><h2 id="required-title">Required here</h2>{status.requirements.length > 0 && <span class="badge number">{met} of {status.requirements.length}</span>}</header>
      <div class="inside stack">
        {status.requirements.length === 0 && <p class="soft">{status.status === "active" ? "This state requires nothing." : "Nothing is required any more."}</p>}
        <ul class="checklist">
          {status.requirements.map((each) => <Line key={each.key} requirement={each} blocker={blockers.get(each.key)} status={status} onRun={setOpen} />)}
        </ul>
      </div>
      {open?.resolution && (
        <Confirm title={`Ask for ${open.key}`} act="Run the call" reason="none" onAct={run} onClose={() => setOpen(null)}>
          <p>This call is made, just as it stands. What comes of it counts towards “{open.description || open.key}”.</p>
          <pre class="call">{open.resolution.text || open.resolution.verb}</pre>
          {open.attempts > 0 && <p class="soft small">It was asked for {open.attempts} of {open.max_attempts} times.</p>}
        </Confirm>
      )}
    </section>
  );
}

interface LineProps { requirement: RequirementView; blocker: BlockerView | undefined; status: LifecycleStatus; onRun: (blocker: BlockerView) => void }

function Line({ requirement, blocker, status, onRun }: LineProps) {
  const asked = status.tasks.filter((each) => each.key === requirement.key).at(-1);
  const isWaiting = asked !== undefined && isAsked(asked);
  const isUsedUp = blocker !== undefined && blocker.max_attempts > 0 && blocker.attempts >= blocker.max_attempts;
  const mayRun = blocker?.resolution && !isWaiting && !isUsedUp && status.status === "active" && mayDo("lifecycle.resolve");
  return (
    <li class={requirement.is_met ? "met" : "missing"}>
      <Badge tone={requirement.is_met ? "good" : "wait"} sign={requirement.is_met ? "✓" : "○"}>{requirement.is_met ? "met" : "missing"}</Badge>
      <div class="stack tight">
        <strong>{requirement.description || requirement.key}</strong>
        {requirement.description && <code class="small">{requirement.key}</code>}
        {!requirement.is_met && requirement.missing.length > 0 && <ul class="missing-list">{requirement.missing.map((each) => <li key={each}>{each}</li>)}</ul>}
        {blocker?.reason && <span class="fault">{blocker.reason}</span>}
        {isWaiting && <span class="soft small">Asked <Ago at={asked.created_at} /> by {asked.by}; {asked.received} of {asked.expected} came.</span>}
        {isUsedUp && !isWaiting && <span class="soft small">It was asked for as often as its definition allows ({blocker.max_attempts}).</span>}
        {blocker?.resolution && !isWaiting && <code class="small call-line">{blocker.resolution.text || blocker.resolution.verb}</code>}
        {blocker?.is_automatic && !isWaiting && !isUsedUp && <span class="soft small">It is asked for by itself.</span>}
        {!requirement.is_met && blocker && !blocker.resolution && !blocker.reason && <span class="soft small">No call brings it: it is met when its facts change.</span>}
        {mayRun && <button type="button" class="button tight" onClick={() => onRun(blocker)}>Ask for {requirement.key}</button>}
      </div>
    </li>
  );
}
