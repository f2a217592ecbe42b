// The engines of a project with more than one: which answer, what begins there, what is under way to them.
import { get, mayDo } from "../../api/client";
import type { EngineView } from "../../api/process-shapes";
import { useResource } from "../../live/resource";
import { Badge } from "../../parts/state-badge";
import { Ago } from "../../parts/relative-time";

const SETTLE_MS = 15_000;

export function Engines() {
  const found = useResource(async (signal) => (mayDo("engine.list") ? get<EngineView[]>("/engines", { signal }) : []), [], () => true, SETTLE_MS);
  const engines = found.data ?? [];
  if (engines.length < 2) return null;
  return (
    <section class="card wide" aria-labelledby="card-engines">
      <header><h2 id="card-engines">Engines</h2><span class="soft small">what carries processes</span></header>
      <ul class="plain inside engines">{engines.map((each) => <Engine key={each.name} engine={each} />)}</ul>
    </section>
  );
}

function Engine({ engine }: { engine: EngineView }) {
  const begins = [...(engine.is_default ? ["everything else"] : []), ...engine.processes, ...engine.tenants.map((each) => `tenant ${each}`)];
  return (
    <li>
      <span class="row">
        <strong>{engine.name}</strong>
        {engine.reachable ? <Badge tone="good" sign="✓">reachable</Badge> : <Badge tone="bad" sign="✕">away</Badge>}
        {engine.version && <span class="soft small">{engine.version}</span>}
        {engine.ui && <a class="push small" href={engine.ui} rel="noreferrer" aria-label={`Open the web interface of ${engine.name}`}>Open</a>}
      </span>
      <span class="soft small">{engine.url || (engine.reachable ? "this store" : "")}{begins.length > 0 && ` · begins ${begins.join(", ")}`}</span>
      {engine.reason && <span class="small">{engine.reason}</span>}
      {engine.waiting_steps > 0 && <span class="small">{engine.waiting_steps} {engine.waiting_steps === 1 ? "step waits" : "steps wait"} for it{engine.unreachable_since && <> since <Ago at={engine.unreachable_since} /></>}</span>}
      {engine.open_dispatches > 0 && <span class="soft small">{engine.open_dispatches} under way, the oldest for {Math.round(engine.lag_seconds)} s</span>}
    </li>
  );
}
