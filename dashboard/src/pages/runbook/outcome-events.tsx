// What became of the steps, event by event, oldest first; whoever may not read all of it sees the page without it.
import type { OutcomeEvent, StepView } from "../../api/shapes";
import { List } from "../../lists/list";
import { usePages } from "../../lists/paged-list";
import { Badge } from "../../parts/state-badge";
import { Exact } from "../../parts/relative-time";
import { outcomeWords } from "./outcome-words";
import { ENDED } from "./runbook-reader";

/** Every read follows the journals from their beginning, so a busy server is asked once a second at most. */
const SETTLE_MS = 1_000;

interface EventsProps { base: string; id: string; steps: StepView[]; onSelect: (name: string) => void }

export function OutcomeEvents({ base, id, steps, onSelect }: EventsProps) {
  // A process may call others, whose events name neither the runbook nor the process.
  const isCarried = steps.some((step) => step.carrier && !ENDED.has(step.state));
  const pages = usePages<OutcomeEvent>(`${base}/outcome-events`, {}, (event) => event.id === id || (isCarried && event.kind === "instance"), SETTLE_MS);
  const { data, error } = pages.from;
  if (error?.status === 403 || (!data && !error) || data?.items.length === 0) return null;
  return (
    <List of={pages} label="Outcome events" nouns={["event", "events"]} none={null}>
      {(events) => (
        <>
          <header><h2>Outcome events</h2></header>
          <ol class="outcomes">{events.map((event) => <Outcome key={event.cursor} event={event} step={steps.length > 1 ? steps[event.step - 1] : undefined} onSelect={onSelect} />)}</ol>
        </>
      )}
    </List>
  );
}

function Outcome({ event, step, onSelect }: { event: OutcomeEvent; step: StepView | undefined; onSelect: (name: string) => void }) {
  const { word, tone, sign, awaited, sentence } = outcomeWords(event);
  return (
    <li data-event={event.event} title={event.text}>
      <span class="small soft"><Exact at={event.at} /></span>
      <span class="said"><Badge tone={tone} sign={sign}>{word}</Badge> {sentence} {awaited && <span class="small soft">· {awaited}</span>}</span>
      {step && <button type="button" class="link small" onClick={() => onSelect(step.name)}>{step.name}</button>}
    </li>
  );
}
