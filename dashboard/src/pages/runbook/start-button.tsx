// "Confirm and run": binds the very plan that is on the page, with a phrase to type where it is grave.
import { useState } from "preact/hooks";
import type { PlanView, RunbookView } from "../../api/shapes";
import { Badge, type Tone } from "../../parts/state-badge";
import { Confirm } from "../../parts/dialog";

const TIERS: Record<PlanView["tier"], readonly [Tone, string]> = {
  benign: ["good", "benign"], reviewable: ["busy", "reviewable"], requires_confirmation: ["wait", "requires confirmation"], requires_authorisation: ["bad", "requires authorisation"],
};

export function TierBadge({ tier }: { tier: PlanView["tier"] }) {
  const [tone, words] = TIERS[tier] ?? ["quiet", tier];
  return <Badge tone={tone} sign={tone === "good" ? "✓" : "!"}>{words}</Badge>;
}

interface StartProps {
  plan: PlanView;
  /** Whether its steps come to a runbook that runs already. */
  adds?: boolean;
  start: (confirm: string, phrase: string) => Promise<RunbookView>;
  onStarted: (view: RunbookView) => void;
  isDisabled?: boolean;
}

const GRAVE: readonly string[] = ["requires_confirmation", "requires_authorisation"];

export function StartButton({ plan, adds = false, start, onStarted, isDisabled = false }: StartProps) {
  const [isAsked, setAsked] = useState(false);
  const isGrave = GRAVE.includes(plan.tier);
  const [run, title] = adds ? ["Add", "Add these steps"] : ["Run", "Run this plan"];
  const act = async (_: string, typed: string) => onStarted(await start(plan.plan_hash, typed));
  return (
    <>
      <button type="button" class="button primary" disabled={isDisabled} onClick={() => setAsked(true)}>{isGrave ? `Confirm and ${run.toLowerCase()}` : adds ? title : run}</button>
      {isAsked && (
        <Confirm title={isGrave ? `Confirm and ${run.toLowerCase()}` : title} act={run} reason="none" phrase={plan.phrase} onAct={act} onClose={() => setAsked(false)}>
          <p class="row"><TierBadge tier={plan.tier} /> {plan.steps.length} {plan.steps.length === 1 ? "step" : "steps"}</p>
          {plan.tier_reason && <p>{plan.tier_reason}</p>}
          <ol class="sentences">{plan.steps.slice(0, 12).map((step) => <li key={step.name}>{step.sentence || step.verb || step.name}</li>)}</ol>
          {plan.steps.length > 12 && <p class="soft">and {plan.steps.length - 12} more</p>}
          <p class="small soft">What you confirm is this plan and no other: <code>{plan.plan_hash.slice(0, 23)}…</code></p>
        </Confirm>
      )}
    </>
  );
}
