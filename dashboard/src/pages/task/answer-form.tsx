// The form of an answer: filled in, checked field by field, sent once. The first answer counts.
import { useMemo, useState } from "preact/hooks";
import { mayDo, post, Problem } from "../../api/client";
import type { Task } from "../../api/process-shapes";
import type { Json } from "../../api/shapes";
import { answerOf, type Fault } from "../../forms/form-answer";
import { type Draft, draftOf } from "../../forms/form-draft";
import { FormFields } from "../../forms/form";
import { shapeOf } from "../../forms/schema-shape";
import { asProblem } from "../../live/resource";
import { Confirm } from "../../parts/dialog";
import { JsonTree } from "../../parts/json-tree";
import { ProblemBox } from "../../parts/load-states";
import { capital } from "../../parts/titles";
import type { Standing } from "../inbox/task-assignment";

interface AnswerProps { path: string; task: Task; standing: Standing; onAnswered: () => void; onStale: () => void }

/** What the process gives by itself is told, never asked. */
function Known({ known }: { known: Record<string, Json> }) {
  const entries = Object.entries(known);
  if (entries.length === 0) return null;
  return (
    <dl class="known" aria-label="Known already">
      {entries.map(([name, value]) => <div key={name}><dt class="soft small">{capital(name.replaceAll("_", " "))}</dt><dd>{value !== null && typeof value === "object" ? <JsonTree value={value} label={name} /> : String(value)}</dd></div>)}
    </dl>
  );
}

/** Where several groups are asked, what each of them has said: all answers have to be the same. */
function Given({ given }: { given: NonNullable<Task["given"]> }) {
  if (given.length === 0) return null;
  return (
    <dl class="known" aria-label="Answers so far">
      {given.map((each) => <div key={each.group}><dt class="soft small">{each.by} for {each.group}</dt><dd>{each.data === null || each.data === undefined ? "agreed" : <JsonTree value={each.data} label={each.group} />}</dd></div>)}
    </dl>
  );
}

export function AnswerForm({ path, task, standing, onAnswered, onStale }: AnswerProps) {
  const shape = useMemo(() => shapeOf(task.form ?? { type: "object", additionalProperties: true }, "Answer"), [JSON.stringify(task.form)]);
  const [draft, setDraft] = useState<Draft>(() => draftOf(shape));
  const [faults, setFaults] = useState<Fault[]>([]);
  const [problem, setProblem] = useState<Problem>();
  const [tries, setTries] = useState(0);
  const [isBusy, setBusy] = useState(false);
  // One key for one answer: sent again after a lost reply, it still counts once.
  const [key, setKey] = useState(() => crypto.randomUUID());
  // The answer is about what was on the page when it was begun; once that was refused, about what is there now.
  const [begun] = useState(task.seen ?? "");
  const [isRefused, setRefused] = useState(false);
  // A failed step of a grave verb is retried by a person who confirms it.
  const [grave, setGrave] = useState<{ hash: string; phrase: string; data: Json }>();
  const seen = isRefused ? task.seen ?? "" : begun;
  const mayAnswer = mayDo("task.complete") && !standing.isRequester && standing.holder === "";

  const send = async (event: Event) => {
    event.preventDefault();
    const answer = answerOf(shape, draft, shape.kind !== "raw");
    setFaults(answer.faults);
    setProblem(undefined);
    setTries(tries + 1);
    if (answer.faults.length > 0) return;
    setBusy(true);
    try {
      await post(`${path}/complete`, { data: answer.value ?? {}, seen }, { key });
      onAnswered();
    } catch (error) {
      const refused = asProblem(error);
      setBusy(false);
      setFaults(refused.errors);
      setTries(tries + 2);
      if (refused.errors.length === 0) setProblem(refused);
      if (refused.status === 423 && refused.members["plan_hash"]) setGrave({ hash: String(refused.members["plan_hash"]), phrase: String(refused.members["phrase"] ?? ""), data: answer.value ?? {} });
      if (refused.status !== 0 && refused.status < 500) setKey(crypto.randomUUID());
      if (refused.status === 409) setRefused(true);
      if (refused.status === 409 || refused.status === 404) onStale();
    }
  };
  const confirm = async (_: string, phrase: string) => {
    await post(`${path}/complete`, { data: grave?.data ?? {}, seen, confirm: grave?.hash ?? "", phrase }, { key });
    onAnswered();
  };
  return (
    <section class="card" aria-labelledby="answer-title">
      <header><h2 id="answer-title">Your answer</h2></header>
      <form class="inside stack" onSubmit={(event) => void send(event)} noValidate>
        {standing.holder && <p class="notice wait">{standing.holder} has claimed it and answers it.</p>}
        {standing.isRequester && <p class="notice wait">You asked for this, so somebody else has to answer: four eyes are needed.</p>}
        {!mayDo("task.complete") && <p class="notice">You may look at tasks but not answer them.</p>}
        {!isRefused && begun !== (task.seen ?? "") && <p class="notice wait">What this is about has changed since you began. Look at it again before you answer.</p>}
        {problem && <ProblemBox problem={problem} />}
        {faults.length > 0 && <p class="fault" role="alert">{faults.length === 1 ? "One field needs another look." : `${faults.length} fields need another look.`}</p>}
        <Known known={task.known ?? {}} />
        <Given given={task.given ?? []} />
        <FormFields form="answer" shape={shape} draft={draft} faults={faults} onChange={setDraft} isDisabled={!mayAnswer || isBusy} tries={tries} />
        {mayAnswer && <div class="row"><button type="submit" class="button primary" disabled={isBusy}>{isBusy ? "Sending…" : "Complete"}</button></div>}
      </form>
      {grave && <Confirm title="Retry something grave?" act="Retry" reason="none" phrase={grave.phrase} onAct={confirm} onClose={() => setGrave(undefined)}><p>{problem?.message}</p></Confirm>}
    </section>
  );
}
