// Calls that are offered in the present state: their text, to be run from the compose page or a terminal.
import { mayDo } from "../../api/client";
import type { LifecycleStatus } from "../../api/paper-shapes";
import { Link } from "../../router";

export function Actions({ actions }: { actions: LifecycleStatus["actions"] }) {
  if (actions.length === 0) return null;
  return (
    <section class="card" aria-labelledby="actions-title">
      <header><h2 id="actions-title">Can be done here</h2></header>
      <ul class="inside ways">
        {actions.map((each) => (
          <li key={each.name}>
            <span class="row"><strong>{each.name}</strong>{each.description && <span class="soft small">{each.description}</span>}</span>
            {each.call ? <code class="small call-line">{each.call.text}</code> : <span class="fault small">{each.reason}</span>}
            {each.call && mayDo("runbook.draft") && <Link class="small" to={`/compose?verb=${encodeURIComponent(each.call.verb)}`}>Use it in a runbook</Link>}
          </li>
        ))}
      </ul>
    </section>
  );
}
