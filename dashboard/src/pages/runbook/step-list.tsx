// The plan in sentences, section by section; a step opens to show what went in, what came out and what can be done.
import { useEffect, useRef } from "preact/hooks";
import type { StepView } from "../../api/shapes";
import { Badge, StateBadge } from "../../parts/state-badge";
import { JsonTree } from "../../parts/json-tree";
import { Exact, Left } from "../../parts/relative-time";
import { durationText } from "../../parts/time-text";
import { Link } from "../../router";
import { type Shown, waitOf } from "./runbook-reader";
import { StepActs } from "./step-actions";

interface StepsProps { shown: Shown; selected: string; onSelect: (name: string) => void; onDone: () => void }

export function Steps({ shown, selected, onSelect, onDone }: StepsProps) {
  const sections: { name: string; steps: StepView[] }[] = [];
  for (const step of shown.view.steps) {
    const last = sections.at(-1);
    if (last && last.name === (step.section ?? "")) last.steps.push(step);
    else sections.push({ name: step.section ?? "", steps: [step] });
  }
  return (
    <div class="sections">
      {sections.map((section, index) => (
        <section key={index} aria-label={section.name || undefined}>
          {section.name && <h3>{section.name}</h3>}
          <ol start={section.steps[0]?.number ?? 1}>
            {section.steps.map((step) => <Step key={step.name} shown={shown} step={step} isOpen={step.name === selected} onSelect={onSelect} onDone={onDone} />)}
          </ol>
        </section>
      ))}
    </div>
  );
}

function Step({ shown, step, isOpen, onSelect, onDone }: { shown: Shown; step: StepView; isOpen: boolean; onSelect: (name: string) => void; onDone: () => void }) {
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isOpen && item.current) reveal(item.current);
  }, [isOpen]);
  const note = step.state === "failed" && step.error ? step.error.message : step.waiting_for ? waitOf(step) : step.state === "running" ? step.progress : "";
  return (
    <li ref={item} class={isOpen ? "open" : ""} data-step={step.name} data-state={step.state}>
      <button type="button" class="sentence" aria-expanded={isOpen} onClick={() => onSelect(isOpen ? "" : step.name)}>
        <span class="number soft">{step.number}</span>
        <span class="words">
          <span>{step.sentence || (step.verb ? step.verb : `Choice ${step.name}`)}</span>
          {note && <span class="soft small">{note}</span>}
        </span>
        <StateBadge state={step.waiting_for?.kind === "incident" ? "incident" : step.state} />
      </button>
      {isOpen && <Details shown={shown} step={step} onDone={onDone} />}
    </li>
  );
}

/** Within its list where that scrolls by itself, so that the graph beside it stays where it is. */
function reveal(item: HTMLElement): void {
  const list = item.closest<HTMLElement>(".sections");
  if (!list || list.scrollHeight <= list.clientHeight) return item.scrollIntoView({ block: "nearest" });
  const [top, bottom] = [item.offsetTop - list.offsetTop, item.offsetTop - list.offsetTop + item.offsetHeight];
  if (top < list.scrollTop || item.offsetHeight > list.clientHeight) list.scrollTop = top;
  else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
}

function Details({ shown, step, onDone }: { shown: Shown; step: StepView; onDone: () => void }) {
  const wait = step.waiting_for;
  const hangsOn = [...new Set([...(step.needs ?? []), ...(step.after ?? [])])];
  const took = step.started_at && step.ended_at ? (Date.parse(step.ended_at) - Date.parse(step.started_at)) / 1000 : null;
  return (
    <div class="details stack">
      <StepActs shown={shown} step={step} onDone={onDone} />
      {step.error && <div class="problem"><strong>{step.error.code}</strong><span>{step.error.message}</span><span class="soft small">{step.error.failure_class.replace(/_/g, " ")}</span></div>}
      {wait?.kind === "incident" && <div class="problem"><strong>Stuck: {wait.code}</strong><span>{wait.text}</span></div>}
      <dl class="facts">
        <dt>Step</dt><dd><code>{step.name}</code></dd>
        {step.verb && <><dt>Verb</dt><dd><Link to={`/definitions/verbs/${encodeURIComponent(step.verb)}`}>{step.verb}</Link></dd></>}
        {hangsOn.length > 0 && <><dt>After</dt><dd>{hangsOn.join(", ")}</dd></>}
        {Object.entries(step.branch ?? {}).map(([choice, side]) => <><dt>Only if</dt><dd>{choice} is {side ? "true" : "false"}</dd></>)}
        {step.gate && <><dt>Gate</dt><dd>someone of {step.gate} agrees</dd></>}
        {step.on_failure && step.on_failure !== "stop" && <><dt>On failure</dt><dd>{step.on_failure}</dd></>}
        {step.undoes && <><dt>Undoes</dt><dd>{step.undoes}</dd></>}
        {wait && <><dt>Waits for</dt><dd>{[wait.verb, wait.text].filter(Boolean).join(": ") || wait.kind} {wait.due_at && <Left at={wait.due_at} />}</dd></>}
        {wait?.escalation && <><dt>Escalates to</dt><dd>{wait.escalation}</dd></>}
        {step.carrier && <><dt>Process</dt><dd><Link to={`/instances/${step.carrier.instance}`}>{step.carrier.process}</Link> version {step.carrier.version}{step.carrier.engine && <>, {step.carrier.engine_link ? <a href={step.carrier.engine_link} rel="noreferrer">{step.carrier.engine}</a> : step.carrier.engine} engine</>} <Badge>{step.carrier.state}</Badge> {step.carrier.progress}</dd></>}
        {step.mode && <><dt>Carried as</dt><dd>{step.mode.replace(/_/g, " ")}</dd></>}
        {step.task_link && <><dt>Task list</dt><dd><a href={step.task_link} rel="noreferrer">Open the task</a></dd></>}
        {step.attempt && step.attempt.attempt > 1 && <><dt>Attempts</dt><dd>{step.attempt.attempt}</dd></>}
        <dt>Began</dt><dd><Exact at={step.started_at} /></dd>
        {step.ended_at && <><dt>Ended</dt><dd><Exact at={step.ended_at} />{took !== null && <span class="soft"> after {durationText(took)}</span>}</dd></>}
      </dl>
      {step.args !== undefined && step.args !== null && <div><h4>Input</h4><JsonTree value={step.args} label="Input" /></div>}
      {step.result !== undefined && step.result !== null && <div><h4>Result</h4><JsonTree value={step.result} label="Result" /></div>}
      {step.flags && Object.keys(step.flags).length > 0 && <div><h4>Flags</h4><JsonTree value={step.flags} label="Flags" /></div>}
    </div>
  );
}
