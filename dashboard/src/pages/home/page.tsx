// Home: what needs me, what is stuck, what is running, how much goes through, what is waited for.
import type { ComponentChildren } from "preact";
import { get, mayDo, session } from "../../api/client";
import type { Overview, TaskView } from "../../api/shapes";
import { useResource } from "../../live/resource";
import { StateBadge } from "../../parts/state-badge";
import { PageHead } from "../../parts/page-head";
import { Blank, Loaded } from "../../parts/load-states";
import { Ago, Left } from "../../parts/relative-time";
import { Link } from "../../router";
import { Engines } from "./engines";
import { clock, columnsOf, countText } from "./hourly-chart";
import "./home.css";

const SETTLE_MS = 1500;

export default function HomePage() {
  const overview = useResource((signal) => get<Overview>("/overview", { signal }), [], () => true, SETTLE_MS);
  return (
    <>
      <PageHead title="Home" actions={mayDo("runbook.draft") && <Link class="button primary" to="/compose">Compose a runbook</Link>}>
        <p class="soft">{session.value?.tenant === "default" ? "How things stand now" : `How things stand now in ${session.value?.tenant}`}</p>
      </PageHead>
      <Loaded from={overview} lines={10}>{(data) => <Cards data={data} />}</Loaded>
    </>
  );
}

function Cards({ data }: { data: Overview }) {
  const upTo = data.counted_to;
  const toVerify = mayDo("document.verify") ? (data.documents_to_verify ?? 0) : 0;
  const isQuiet = total(data.running.runbooks) + total(data.running.instances) + data.throughput.reduce((sum, hour) => sum + hour.started, 0) === 0;
  return (
    <div class="home">
      <Card title="Needs me" count={countText(data.needs_me.tasks, upTo)} to="/inbox" label="Open the inbox">
        {data.needs_me.first.length === 0 ? <p class="calm">{toVerify > 0 ? "No task waits for you." : "Nothing waits for you."}</p> : <ul class="plain">{data.needs_me.first.slice(0, 6).map((task) => <TaskLine key={task.key} task={task} />)}</ul>}
        {toVerify > 0 && <Figure count={toVerify} upTo={upTo} label={toVerify === 1 ? "document to verify" : "documents to verify"} to="/documents?status=pending" isBad={false} />}
      </Card>
      <Card title="Stuck" to="/incidents" label="Open incidents">
        <div class="figures">
          <Figure count={data.stuck.incidents} upTo={upTo} label="incidents" to="/incidents" isBad />
          <Figure count={data.stuck.dead_letters} upTo={upTo} label="dead letters" to="/incidents?tab=dead-letters" isBad />
          <Figure count={data.stuck.overdue_tasks} upTo={upTo} label="overdue tasks" to="/inbox" isBad />
          {data.stuck.quarantined > 0 && <Figure count={data.stuck.quarantined} upTo={upTo} label="quarantined" to="/incidents" isBad />}
        </div>
      </Card>
      <Card title="Running" to="/runbooks" label="Open runbooks">
        <h3>Runbooks</h3>
        <States counts={data.running.runbooks} upTo={upTo} to={(state) => `/runbooks?state=${state}`} />
        <h3>Instances</h3>
        <States counts={data.running.instances} upTo={upTo} to={(state) => `/instances?state=${state}`} />
        {Object.keys(data.running.lifecycles).length > 0 && <><h3>Lifecycles</h3><Lifecycles counts={data.running.lifecycles} upTo={upTo} /></>}
      </Card>
      <Card title="Throughput" note="the last 24 hours" isWide>
        {isQuiet ? <Blank title="Nothing has run yet"><p>As soon as a verb is called or a runbook started, it shows here.</p>{mayDo("runbook.draft") && <Link class="button primary" to="/compose">Compose the first runbook</Link>}</Blank> : <Throughput hours={data.throughput} />}
      </Card>
      <Card title="Waits" note="what is waited for, and since when">
        {data.waits.length === 0 ? <p class="calm">Nothing waits.</p> : <Waits waits={data.waits} upTo={upTo} />}
      </Card>
      <Engines />
    </div>
  );
}

interface CardProps { title: string; count?: string; note?: string; to?: string; label?: string; isWide?: boolean; children: ComponentChildren }

function Card({ title, count, note, to, label, isWide = false, children }: CardProps) {
  const id = `card-${title.toLowerCase().replace(/\s/g, "-")}`;
  return (
    <section class={`card ${isWide ? "wide" : ""}`} aria-labelledby={id}>
      <header><h2 id={id}>{title}</h2>{count !== undefined && <span class="badge number">{count}</span>}{note && <span class="soft small">{note}</span>}{to && <Link class="push small" to={to} aria-label={label}>Open</Link>}</header>
      <div class="inside stack tight">{children}</div>
    </section>
  );
}

function TaskLine({ task }: { task: TaskView }) {
  return (
    <li class="task">
      <Link to={`/inbox/${encodeURIComponent(task.key)}`}>{task.name || task.element}</Link>
      <span class="row small">
        <span class="soft">{task.claimed_by ? `taken by ${task.claimed_by}` : task.groups || task.assignee || "anyone"}</span>
        {task.due_at ? <Left at={task.due_at} /> : <span class="soft">since <Ago at={task.since} /></span>}
      </span>
    </li>
  );
}

function Figure({ count, upTo, label, to, isBad }: { count: number; upTo: number | undefined; label: string; to: string; isBad: boolean }) {
  return <Link to={to} class={`figure ${count > 0 && isBad ? "bad" : ""}`}><span class="number">{countText(count, upTo)}</span><span class="small">{label}</span></Link>;
}

function States({ counts, upTo, to }: { counts: Record<string, number>; upTo: number | undefined; to: (state: string) => string }) {
  const shown = Object.entries(counts).filter(([, count]) => count > 0);
  if (shown.length === 0) return <p class="calm small">None at the moment.</p>;
  return <ul class="plain states">{shown.map(([state, count]) => <li key={state}><Link to={to(state)} class="row"><StateBadge state={state} /><span class="number push">{countText(count, upTo)}</span></Link></li>)}</ul>;
}

function Lifecycles({ counts, upTo }: { counts: Record<string, number>; upTo: number | undefined }) {
  return <ul class="plain states">{Object.entries(counts).map(([name, count]) => <li key={name}><Link to={`/lifecycles?lifecycle=${encodeURIComponent(name)}`} class="row"><span>{name}</span><span class="number push">{countText(count, upTo)}</span></Link></li>)}</ul>;
}

function Throughput({ hours }: { hours: Overview["throughput"] }) {
  const columns = columnsOf(hours);
  const sum = (pick: (hour: (typeof hours)[number]) => number) => hours.reduce((all, hour) => all + pick(hour), 0);
  return (
    <figure class="throughput">
      <figcaption class="row small">
        <span><i class="swatch busy" /> {sum((hour) => hour.started)} started</span>
        <span><i class="swatch good" /> {sum((hour) => hour.ended)} ended</span>
        <span><i class="swatch bad" /> {sum((hour) => hour.failed)} failed</span>
      </figcaption>
      <div class="chart" role="img" aria-label={`In the last 24 hours ${sum((hour) => hour.started)} started, ${sum((hour) => hour.ended)} ended, ${sum((hour) => hour.failed)} failed`}>
        {columns.map((column, index) => (
          <div key={column.at} class="hour" title={column.label}>
            <div class="bars">
              <span class="busy" style={{ height: `${column.startedShare * 100}%` }} />
              <span class="good" style={{ height: `${column.endedShare * 100}%` }} />
              <span class="bad" style={{ height: `${column.failedShare * 100}%` }} />
            </div>
            <span class="tick">{index % 6 === 0 ? clock(column.at) : ""}</span>
          </div>
        ))}
      </div>
    </figure>
  );
}

const KINDS: Record<string, string> = {
  completion: "Answers from outside", process: "Processes", task: "People", gate: "Agreements", escalation: "Escalations", retry: "Next attempts", incident: "Stuck", timer: "Timers",
  message: "Messages",
};

function Waits({ waits, upTo }: { waits: Overview["waits"]; upTo: number | undefined }) {
  const most = Math.max(...waits.map((wait) => wait.count), 1);
  return (
    <ul class="plain wait-bars">
      {waits.map((wait) => (
        <li key={wait.kind}>
          <span class="row"><span>{KINDS[wait.kind] ?? wait.kind.replace(/_/g, " ")}</span><span class="number push">{countText(wait.count, upTo)}</span></span>
          <span class="meter" aria-hidden="true"><span style={{ width: `${(wait.count / most) * 100}%` }} /></span>
          {wait.oldest && <span class="soft small">oldest <Ago at={wait.oldest} /></span>}
        </li>
      ))}
    </ul>
  );
}

function total(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
