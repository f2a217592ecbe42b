// Where an instance stands: what is stuck, where its tokens are and what it waits for.
import { useEffect, useState } from "preact/hooks";
import { get, mayDo, post } from "../../api/client";
import type { InstanceView, InstanceWait, TokenView } from "../../api/process-shapes";
import type { IncidentMark, Schema, VerbView } from "../../api/shapes";
import { Confirm } from "../../parts/dialog";
import { Ago, Left } from "../../parts/relative-time";
import { tell } from "../../parts/toasts";
import { Link } from "../../router";
import { causeOf } from "../incidents/causes";
import { Resolve } from "../incidents/incident-resolution";

interface NowProps { view: InstanceView; name: (element: string) => string; isPast: boolean; onChange: (view: InstanceView) => void; onElement: (element: string) => void }

export function Incidents({ view, name, isPast, onChange, onElement }: NowProps) {
  if (view.incidents.length === 0) return null;
  return (
    <section class="card" aria-labelledby="stuck-title">
      <header><h2 id="stuck-title">Stuck</h2></header>
      <ul class="inside plain-list">
        {view.incidents.map((each) => <Incident key={each.token} incident={each} view={view} name={name} isPast={isPast} onChange={onChange} onElement={onElement} />)}
      </ul>
    </section>
  );
}

function Incident({ incident, view, name, isPast, onChange, onElement }: NowProps & { incident: IncidentMark }) {
  const [open, setOpen] = useState<"retry" | "resolve" | null>(null);
  const cause = causeOf(incident.code);
  const act = async (what: "retry" | "resolve", body: object, done: string) => {
    onChange(await post<InstanceView>(`/instances/${view.id}/${what}`, { token: incident.token, ...body }));
    tell(done);
  };
  const token = view.tokens.find((each) => each.number === incident.token);
  return (
    <li class="incident">
      <span><button type="button" class="button tight quiet" onClick={() => onElement(incident.element)}>{name(incident.element)}</button> <strong>{cause.title}</strong></span>
      <span>{incident.text}</span>
      <span class="soft">{cause.helps}</span>
      <span class="soft small"><code>{incident.code}</code> · <Ago at={incident.since} /></span>
      {!isPast && (
        <span class="row">
          {mayDo("instance.retry") && <button type="button" class="button tight" onClick={() => setOpen("retry")}>Retry</button>}
          {mayDo("instance.resolve") && <button type="button" class="button tight" onClick={() => setOpen("resolve")}>Resolve by hand</button>}
        </span>
      )}
      {open === "retry" && (
        <Confirm title={`Try ${name(incident.element)} again?`} act="Retry" onAct={(reason, _, agreed) => act("retry", { reason, ...agreed }, "Retrying")} onClose={() => setOpen(null)}>
          <p>Its policy grants all attempts anew; the idempotency key stays the same.</p>
        </Confirm>
      )}
      {open === "resolve" && <ResolveToken what={name(incident.element)} verb={token?.verb ?? ""} onResolve={(body) => act("resolve", body, "Resolved")} onClose={() => setOpen(null)} />}
    </li>
  );
}

/** The result is asked for as the verb declares it; when nobody knows the verb, as JSON. */
export function ResolveToken({ what, verb, onResolve, onClose }: { what: string; verb: string; onResolve: (body: object) => Promise<void>; onClose: () => void }) {
  const [schema, setSchema] = useState<Schema | null | undefined>(verb ? undefined : null);
  useEffect(() => {
    if (verb) get<VerbView>(`/verbs/${encodeURIComponent(verb)}`).then((found) => setSchema(found.output_schema ?? null), () => setSchema(null));
  }, [verb]);
  if (schema === undefined) return null;
  return <Resolve what={what} schema={schema} errorLabel="Code of the business error" onResolve={onResolve} onClose={onClose} />;
}

export function Standing({ view, name, onElement }: NowProps) {
  return (
    <section class="card" aria-labelledby="waits-title">
      <header><h2 id="waits-title">What it waits for</h2></header>
      <div class="inside stack">
        {view.waits.length === 0 && view.tokens.length === 0 && <p class="soft">Nothing: it has ended.</p>}
        {view.waits.length === 0 && view.tokens.length > 0 && <p class="soft">Nothing right now: it is being worked on.</p>}
        {view.waits.length > 0 && <ul class="plain-list">{view.waits.map((each, index) => <Wait key={index} wait={each} view={view} name={name} onElement={onElement} />)}</ul>}
        {view.tokens.length > 0 && (
          <details>
            <summary>{view.tokens.length} {view.tokens.length === 1 ? "token" : "tokens"}</summary>
            <ul>{view.tokens.map((each) => <li key={each.number}>{tokenText(each, name)}{each.called && <>, calls <Link to={`/instances/${each.called}`}>an instance</Link></>}</li>)}</ul>
          </details>
        )}
      </div>
    </section>
  );
}

const KINDS: Record<string, string> = {
  message: "a message", signal: "a signal", timer: "the time", condition: "a condition", task: "a person", job: "a worker", retry: "another attempt", call: "a called process",
};

function Wait({ wait, view, name, onElement }: Pick<NowProps, "view" | "name" | "onElement"> & { wait: InstanceWait }) {
  const isStuck = view.incidents.some((each) => each.element === wait.element);
  const task = wait.kind === "task" ? view.tokens.find((token) => token.element === wait.element) : undefined;
  return (
    <li class="stack tight">
      <span class="row">
        <button type="button" class="button tight quiet" onClick={() => onElement(wait.element)}>{name(wait.element)}</button>
        {isStuck ? <span>is stuck and needs a person</span> : <span>waits for {KINDS[wait.kind] ?? wait.kind}{wait.name ? <> <code>{wait.name}</code></> : null}</span>}
        {wait.due_at && <Left at={wait.due_at} />}
      </span>
      {wait.key && <span class="soft small">under the key <code>{wait.key}</code></span>}
      {task && (
        <span class="soft small">
          {task.claimed_by ? `claimed by ${task.claimed_by}` : task.progress ? task.progress : task.assignee ? `for ${task.assignee}` : task.groups ? `for ${task.groups}` : "for anybody"} · <Link to={`/inbox/${encodeURIComponent(`${view.id}:${task.number}`)}`}>Open the task</Link>
        </span>
      )}
    </li>
  );
}

function tokenText(token: TokenView, name: (element: string) => string): string {
  const round = token.iteration ? `, round ${token.iteration}` : "";
  const attempt = token.attempt ? `, attempt ${token.attempt}` : "";
  return `Token ${token.number} at ${name(token.element)} (${token.kind}${token.verb ? ` ${token.verb}` : ""}${round}${attempt})`;
}
