// "Confirm and run": binds the very plan that is on the page, with a phrase to type where it is grave.
import { useState } from "preact/hooks";
import { Problem } from "../../api/client";
import type { PlanView, RunbookView } from "../../api/shapes";
import { Badge, type Tone } from "../../parts/badge";
import { Confirm } from "../../parts/dialog";

const TIERS: Record<PlanView["tier"], readonly [Tone, string]> = {
  benign: ["good", "benign"], reviewable: ["busy", "reviewable"], requires_confirmation: ["wait", "requires confirmation"], requires_authorisation: ["bad", "requires authorisation"],
};

export function TierBadge({ tier }: { tier: PlanView["tier"] }) {
  const [tone, words] = TIERS[tier] ?? ["quiet", tier];
  return <Badge tone={tone} sign={tone === "good" ? "✓" : "!"}>{words}</Badge>;
}

/** What the server asks to be typed for the gravest plans. */
export function phraseOf(plan: PlanView): string {
  if (plan.tier !== "requires_authorisation") return "";
  if (plan.phrase) return plan.phrase;
  const count = plan.steps.filter((step) => step.verb).length || plan.steps.length;
  return `authorise ${count === 1 ? "1 step" : `${count} steps`}`;
}

interface StartProps { plan: PlanView; start: (confirm: string, phrase: string) => Promise<RunbookView>; onStarted: (view: RunbookView) => void; isDisabled?: boolean }

export function StartButton({ plan, start, onStarted, isDisabled = false }: StartProps) {
  const [isAsked, setAsked] = useState(false);
  const [phrase, setPhrase] = useState("");
  const needed = phrase || phraseOf(plan);
  const isGrave = plan.tier === "requires_confirmation" || plan.tier === "requires_authorisation";
  const act = async (_: string, typed: string) => {
    try {
      onStarted(await start(plan.plan_hash, typed));
    } catch (error) {
      const wanted = error instanceof Problem ? error.members["phrase"] : undefined;
      if (typeof wanted === "string" && wanted) setPhrase(wanted);
      throw error;
    }
  };
  return (
    <>
      <button type="button" class="button primary" disabled={isDisabled} onClick={() => setAsked(true)}>{isGrave ? "Confirm and run" : "Run"}</button>
      {isAsked && (
        <Confirm title={isGrave ? "Confirm and run" : "Run this plan"} act="Run" reason="none" phrase={needed} onAct={act} onClose={() => setAsked(false)}>
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
