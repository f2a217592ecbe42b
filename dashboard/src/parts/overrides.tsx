// Acts around tasks of people: who wanted what and why, and who agreed, or has to.
import type { OverrideView } from "../api/shapes";
import { Ago } from "./relative-time";
import { Badge } from "./state-badge";

export function Overrides({ overrides }: { overrides: OverrideView[] }) {
  if (overrides.length === 0) return null;
  return (
    <section class="card" aria-labelledby="overrides-title">
      <header><h2 id="overrides-title">Overrides</h2><span class="push soft">{overrides.length}</span></header>
      <ul class="inside plain-list">
        {overrides.map((each) => <Override key={each.number} override={each} />)}
      </ul>
    </section>
  );
}

function Override({ override }: { override: OverrideView }) {
  const isUsed = override.state === "used";
  return (
    <li class="stack">
      <span class="row"><Badge tone={isUsed ? "odd" : "wait"} sign={isUsed ? "!" : "‖"}>{override.state}</Badge> <strong>{override.what}</strong> <span>around {override.tasks.join(", ")}</span></span>
      <span>{override.by}: {override.reason} <span class="soft small"><Ago at={override.at} /></span></span>
      {override.agreed_by.map((name, index) => <span key={name}>{name} agreed: {override.reasons[index]}</span>)}
      {!isUsed && <span class="soft">It waits for {override.needs}. Somebody of them, who did not ask for it, does the same with a reason.</span>}
    </li>
  );
}
