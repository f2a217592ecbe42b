// What was asked for so far: by which call, when, until when, and what came of it.
import type { DeliveryView, PendingTaskView } from "../../api/paper-shapes";
import { type Column, Table } from "../../lists/table";
import { Ago, Left } from "../../parts/relative-time";
import { shortId } from "../../parts/short-id";
import { StateBadge } from "../../parts/state-badge";
import { Link } from "../../router";
import { documentOf, isAsked } from "./task-state";

export function Tasks({ tasks }: { tasks: PendingTaskView[] }) {
  if (tasks.length === 0) return null;
  return (
    <section class="card" aria-labelledby="tasks-title">
      <header><h2 id="tasks-title">Asked for</h2><span class="badge number">{tasks.filter(isAsked).length} open</span></header>
      <Table caption="Pending tasks, newest first" columns={COLUMNS} rows={[...tasks].reverse()} keyOf={(task) => task.correlation_id} />
    </section>
  );
}

const COLUMNS: Column<PendingTaskView>[] = [
  { label: "For", cell: (task) => <><strong>{task.key}</strong><div class="soft small">{task.blocker} · attempt {task.attempt}</div></> },
  { label: "State", cell: (task) => <><StateBadge state={task.status} />{task.error && <div class="fault small">{task.error}</div>}</> },
  { label: "Asked", cell: (task) => <><code>{task.verb}</code><div class="soft small"><Ago at={task.created_at} /> by {task.by}</div></> },
  { label: "Sent", cell: (task) => (task.deliveries.length === 0 ? <span class="soft">nothing</span> : task.deliveries.map((each) => <Delivery key={each.effect_id} delivery={each} />)) },
  { label: "Until", cell: (task) => (isAsked(task) ? <Left at={task.expires_at} /> : <span class="soft">over</span>) },
  { label: "Came", cell: (task) => <><span class="number">{task.received} of {task.expected}</span>{task.failed > 0 && <span class="soft">, {task.failed} failed</span>}{task.cargo.map((each) => <Cargo key={each} reference={each} />)}</> },
];

function Delivery({ delivery }: { delivery: DeliveryView }) {
  return (
    <div class="stack tight">
      <span class="row"><StateBadge state={delivery.status} /><span>by {delivery.channel}{delivery.address && ` to ${delivery.address}`}</span></span>
      <span class="soft small">
        {delivery.sent_at ? <Ago at={delivery.sent_at} /> : `${delivery.attempts} ${delivery.attempts === 1 ? "attempt" : "attempts"}`}{delivery.is_possible_repeat && ", perhaps more than once"} · <code title="the id by which whoever receives it tells a repeat">{shortId(delivery.effect_id)}</code>
      </span>
      {delivery.error && <span class="fault">{delivery.error}</span>}
    </div>
  );
}

function Cargo({ reference }: { reference: string }) {
  const id = documentOf(reference);
  return <div class="small">{id ? <Link to={`/documents/${id}`}>document</Link> : <code>{reference}</code>}</div>;
}
