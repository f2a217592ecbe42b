// The ways out of the present state: what each misses, and a button for those that people take.
import { useState } from "preact/hooks";
import { mayDo, post, session } from "../../api/client";
import type { LifecycleStatus, TransitionAnswer, TransitionView } from "../../api/paper-shapes";
import { Confirm } from "../../parts/dialog";
import { Left } from "../../parts/relative-time";
import { Badge } from "../../parts/state-badge";
import { tell } from "../../parts/toasts";

interface TransitionsProps { status: LifecycleStatus; onChange: (status: LifecycleStatus) => void }

export function Transitions({ status, onChange }: TransitionsProps) {
  const [open, setOpen] = useState<TransitionView | null>(null);
  const run = async (reason: string) => {
    if (!open) return;
    const told = await post<TransitionAnswer>(`/lifecycles/${status.id}/transition`, { target: open.target, reason });
    onChange(told.instance);
    const changed = told.changed.length > 0 ? ` These changed meanwhile: ${told.changed.join(", ")}.` : "";
    tell(told.answer === "moved" ? `Moved to ${open.target}` : `Proposed: a second person has to agree.${changed}`);
  };
  return (
    <section class="card" aria-labelledby="ways-title">
      <header><h2 id="ways-title">Where it can go</h2></header>
      <div class="inside stack">
        {status.transitions.length === 0 && <p class="soft">Nowhere: this is the end.</p>}
        <ul class="ways">{status.transitions.map((each) => <Way key={`${each.target}-${each.mode}`} way={each} onMove={setOpen} />)}</ul>
      </div>
      {open && (
        <Confirm title={titleOf(open)} act={open.proposed_by ? "Agree" : open.four_eyes ? "Propose" : "Move"} reason={open.needs_reason ? "required" : "optional"} onAct={run} onClose={() => setOpen(null)}>
          {open.description && <p>{open.description}</p>}
          {open.four_eyes && !open.proposed_by && <p>It takes two: what you propose waits until another person agrees.</p>}
          {open.proposed_by && <p>{open.proposed_by} proposed it. If you agree, it is done.</p>}
        </Confirm>
      )}
    </section>
  );
}

const MODES: Record<string, string> = { auto: "by itself", manual: "by a person", time: "by time" };

function Way({ way, onMove }: { way: TransitionView; onMove: (way: TransitionView) => void }) {
  return (
    <li>
      <span class="row"><strong>{way.target}</strong><Badge tone={way.is_open ? "good" : "wait"} sign={way.is_open ? "✓" : "‖"}>{way.is_open ? "open" : "closed"}</Badge><span class="soft small">{MODES[way.mode] ?? way.mode}</span>{way.due && <Left at={way.due} />}</span>
      {way.description && <span class="small">{way.description}</span>}
      {(way.role || way.four_eyes) && <span class="soft small">{[way.role && `for ${way.role}`, way.four_eyes && "takes two people"].filter(Boolean).join(", ")}</span>}
      {way.missing.length > 0 && <ul class="missing-list" aria-label={`Missing for ${way.target}`}>{way.missing.map((each) => <li key={each}>{each}</li>)}</ul>}
      {way.proposed_by && <span class="notice wait small">{way.proposed_by} proposed it; a second person has to agree.</span>}
      {mayMove(way) && <button type="button" class={`button tight ${way.proposed_by ? "primary" : ""}`} onClick={() => onMove(way)}>{titleOf(way)}</button>}
    </li>
  );
}

/** Whether the button is worth showing; who may really is for the operation to say. */
function mayMove(way: TransitionView): boolean {
  const who = session.value;
  if (way.mode !== "manual" || !way.is_open || !mayDo("lifecycle.transit") || !who || who.kind === "agent") return false;
  return (way.role === "" || who.groups.includes(way.role)) && way.proposed_by !== who.principal;
}

function titleOf(way: TransitionView): string {
  return way.proposed_by ? `Agree to ${way.target}` : way.four_eyes ? `Propose ${way.target}` : `Move to ${way.target}`;
}
