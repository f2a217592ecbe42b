// One task: what is asked, until when, what an agent proposes, and the form of the answer.
import { useRef, useState } from "preact/hooks";
import { get, mayDo, post, Problem, session } from "../../api/client";
import type { Task } from "../../api/process-shapes";
import { capital } from "../../parts/titles";
import { useResource } from "../../live/resource";
import { Badge, StateBadge } from "../../parts/state-badge";
import { PageHead } from "../../parts/page-head";
import { Blank, Loaded } from "../../parts/load-states";
import { Ago } from "../../parts/relative-time";
import { tell } from "../../parts/toasts";
import { Link, navigate, type PageProps } from "../../router";
import { DueClock } from "../../time/due-clock";
import { forWhom, isOfStep, standingOf } from "../inbox/task-assignment";
import { About } from "./task-subject";
import { AnswerForm } from "./answer-form";
import { HandOn } from "./task-delegation";
import { Ladder } from "./escalation-ladder";
import { ProposalCard } from "./agent-proposal";
import { QuestionCard } from "./agent-question";
import "./task.css";

export default function TaskPage({ params }: PageProps) {
  const key = params["key"] ?? "";
  const path = `/tasks/${encodeURIComponent(key)}`;
  const last = useRef<Task | undefined>(undefined);
  const found = useResource((signal) => get<Task>(path, { signal }), [key], (event) => key.startsWith(`${event.id}:`));
  if (found.data) last.current = found.data;
  const isGone = found.error?.status === 404 || found.error?.status === 409;
  if (isGone && found.error) return <Over taskKey={key} problem={found.error} task={last.current} />;
  return <Loaded from={found}>{(task) => <OpenTask key={task.key} path={path} task={task} replace={found.replace} reload={found.reload} />}</Loaded>;
}

interface OpenTaskProps { path: string; task: Task; replace: (task: Task) => void; reload: () => void }

function OpenTask({ path, task, replace, reload }: OpenTaskProps) {
  const principal = session.value?.principal ?? "";
  const standing = standingOf(task, principal);
  const [isHanding, setHanding] = useState<"delegate" | "reassign" | null>(null);
  const [problem, setProblem] = useState<Problem>();
  const act = async (what: string, body: object, done: string) => {
    setProblem(undefined);
    try {
      replace(await post<Task>(`${path}/${what}`, body));
      tell(done);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
      reload();
    }
  };
  const isGate = task.form !== null && task.form !== undefined && "agree" in ((task.form["properties"] ?? {}) as object);
  const actions = (
    <>
      {!task.claimed_by && mayDo("task.claim") && !isGate && !standing.isRequester && <button type="button" class="button" onClick={() => void act("claim", {}, "It is yours")}>Claim</button>}
      {standing.isMine && mayDo("task.unclaim") && <button type="button" class="button" onClick={() => void act("unclaim", {}, "Given back")}>Give back</button>}
      {mayDo("task.delegate") && !isGate && <button type="button" class="button" onClick={() => setHanding("delegate")}>Delegate</button>}
      {mayDo("task.reassign") && !isGate && <button type="button" class="button" onClick={() => setHanding("reassign")}>Reassign</button>}
    </>
  );
  return (
    <>
      <PageHead title={capital(task.name || task.element)} actions={actions}>
        <span class="row">
          <StateBadge state={task.state ?? "open"} />
          <span>{task.claimed_by ? (standing.isMine ? "You have it" : `${task.claimed_by} has it`) : forWhom(task)}</span>
          {task.four_eyes && <Badge tone="quiet">four eyes: not for {task.requester}</Badge>}
        </span>
        <span class="soft">{task.process}, asked <Ago at={task.since} /> · <Link to={placeOf(task)}>See where it belongs</Link>{task.link && <> · <a href={task.link} rel="noreferrer">Open in the task list</a></>}</span>
      </PageHead>
      {problem && <div class="problem" role="alert"><strong>{problem.message}</strong>{problem.hint && <span>{problem.hint}</span>}</div>}
      <div class="task-columns">
        <div class="stack">
          {task.question && <QuestionCard question={task.question} />}
          {task.proposal && <ProposalCard path={path} task={task} proposal={task.proposal} onAnswered={answered} onStale={reload} />}
          <AnswerForm path={path} task={task} standing={standing} onAnswered={answered} onStale={reload} />
        </div>
        <aside class="stack" aria-label="What it is about, and until when">
          <About task={task} />
          <section class="card">
            <header><h2>Due</h2></header>
            <div class="inside stack">
              <DueClock dueAt={task.due_at} since={task.since} />
              <Ladder ladder={task.ladder ?? []} since={task.since} />
              {(task.delegated_by ?? []).length > 0 && <p class="soft small">Handed on by {(task.delegated_by ?? []).join(", then ")}.</p>}
            </div>
          </section>
        </aside>
      </div>
      {isHanding && <HandOn how={isHanding} path={path} onDone={(next) => replace(next)} onClose={() => setHanding(null)} />}
    </>
  );
}

function answered(): void {
  tell("Answered");
  navigate("/inbox");
}

function placeOf(task: Task): string {
  return isOfStep(task) ? `/runbooks/${task.instance}` : `/instances/${task.instance}`;
}

function Over({ taskKey, problem, task }: { taskKey: string; problem: Problem; task: Task | undefined }) {
  return (
    <>
      <PageHead title={capital(task?.name ?? "Task")} />
      <section class="card">
        <Blank title="This task is over">
          <p>{task ? "It was answered, or is not needed any more. The first answer counts." : problem.message}</p>
          <span class="row">
            <Link class="button" to="/inbox">To the inbox</Link>
            {task && <Link class="button" to={placeOf(task)}>See what came of it</Link>}
          </span>
          <code class="small">{taskKey}</code>
        </Blank>
      </section>
    </>
  );
}
