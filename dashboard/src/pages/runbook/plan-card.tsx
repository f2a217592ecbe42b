// A plan before it runs: sentences in waves, what it writes and locks, how grave it is and why.
import type { PlanView } from "../../api/shapes";
import { TierBadge } from "./start-button";

export function PlanCard({ plan }: { plan: PlanView }) {
  const byName = new Map(plan.steps.map((step) => [step.name, step]));
  const waits = plan.steps.filter((step) => step.parks);
  return (
    <div class="stack">
      <p class="row"><TierBadge tier={plan.tier} /> <span class="soft">{plan.tier_reason}</span></p>
      <ol class="waves">
        {plan.waves.map((wave, index) => (
          <li key={index}>
            <span class="soft small">{wave.length > 1 ? `Together (${wave.length})` : `Then`}</span>
            <ul>
              {wave.map((name) => {
                const step = byName.get(name);
                return <li key={name}>{step?.sentence || step?.verb || `Choice ${name}`}{step?.gate && <span class="soft"> · someone of {step.gate} must agree</span>}{step?.parks && <span class="soft"> · {step.parks}</span>}{step?.engine && step.engine !== "embedded" && <span class="soft"> · on {step.engine}</span>}</li>;
              })}
            </ul>
          </li>
        ))}
      </ol>
      <dl class="facts">
        {plan.locks.length > 0 && <><dt>Changes</dt><dd>{plan.locks.join(", ")}</dd></>}
        {waits.length > 0 && <><dt>Waits</dt><dd>{waits.length} {waits.length === 1 ? "step waits" : "steps wait"} for someone</dd></>}
        {plan.decisions.length > 0 && <><dt>Decides</dt><dd>{plan.decisions.join(", ")}</dd></>}
        {plan.remarks.map((remark) => <><dt>Note</dt><dd>{remark}</dd></>)}
        <dt>Plan</dt><dd><code>{plan.plan_hash}</code></dd>
      </dl>
    </div>
  );
}
