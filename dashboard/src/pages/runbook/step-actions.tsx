// What can be done about one step, as far as its state and the session allow.
import { useState } from "preact/hooks";
import { get, mayDo, post } from "../../api/client";
import type { StepView, TaskView } from "../../api/shapes";
import { type Agreed, Confirm, type ConfirmProps } from "../../parts/dialog";
import { tell } from "../../parts/toasts";
import { ENDED } from "./runbook-reader";
import type { Shown } from "./runbook-reader";

type Act = "retry" | "skip" | "cancel" | "agree" | "refuse" | "resolve";
interface Said { label: string; title: string; text: string; reason: ConfirmProps["reason"]; isDangerous?: boolean; done: string }

const SAID: Record<Act, (name: string) => Said> = {
  retry: (name) => ({ label: "Retry", title: `Retry ${name}`, text: "The step begins anew. What it already did outside may be done again.", reason: "optional", done: `${name} begins anew` }),
  skip: (name) => ({ label: "Skip", title: `Skip ${name}`, text: "The runbook goes on without it. Steps that need its result are skipped as well.", reason: "required", done: `${name} is skipped` }),
  cancel: (name) => ({ label: "Cancel step", title: `Cancel ${name}`, text: "The step stops, with whatever it waits for. Nothing is taken back.", reason: "required", isDangerous: true, done: `${name} is cancelled` }),
  agree: (name) => ({ label: "Agree", title: `Agree to ${name}`, text: "The step may run.", reason: "optional", done: `Agreed to ${name}` }),
  refuse: (name) => ({ label: "Refuse", title: `Refuse ${name}`, text: "The step will not run.", reason: "required", isDangerous: true, done: `Refused ${name}` }),
  resolve: (name) => ({ label: "End by hand", title: `End ${name} by hand`, text: "What is stuck ends as failed, with your reason as its error.", reason: "required", isDangerous: true, done: `${name} was ended` }),
};

export function actsOf(shown: Shown, step: StepView): Act[] {
  const found: Act[] = [];
  const isStuck = step.waiting_for?.kind === "incident";
  const [retry, cancel] = shown.kind === "call" ? ["call.retry", "call.cancel"] : ["runbook.retry", "runbook.cancel"];
  if (step.waiting_for?.kind === "gate" && mayDo("runbook.answer")) found.push("agree", "refuse");
  if ((step.state === "failed" || isStuck) && mayDo(retry as string)) found.push("retry");
  if (shown.kind === "call") return isStuck && mayDo("call.resolve") ? [...found, "resolve"] : found;
  if ((step.state === "failed" || !ENDED.has(step.state)) && step.state !== "skipped" && step.state !== "running" && mayDo("runbook.skip") && shown.view.state !== "cancelled") found.push("skip");
  if (!ENDED.has(step.state) && step.state !== "skipped" && step.state !== "pending" && mayDo(cancel as string)) found.push("cancel");
  return found;
}

export function StepActs({ shown, step, onDone }: { shown: Shown; step: StepView; onDone: () => void }) {
  const [asked, setAsked] = useState<Act>();
  const [seen, setSeen] = useState("");
  const ask = async (act: Act) => {
    // A gate is answered for what the page shows; an answer to something else is refused.
    if (act === "agree" || act === "refuse") setSeen((await get<TaskView>(`/tasks/${shown.view.id}:${step.number}`)).seen ?? "");
    setAsked(act);
  };
  const acts = actsOf(shown, step);
  if (acts.length === 0) return null;
  const said = asked && SAID[asked](step.name);
  const act = async (reason: string, _: string, agreed: Agreed) => {
    if (!asked || !said) return;
    const [path, body] = request(shown, step, asked, reason, seen);
    await post(path, { ...body, ...agreed });
    tell(said.done);
    onDone();
  };
  return (
    <div class="row">
      {acts.map((each) => <button key={each} type="button" class={`button tight ${each === "agree" || each === "retry" ? "primary" : SAID[each]("").isDangerous ? "danger" : ""}`} onClick={() => void ask(each)}>{SAID[each]("").label}</button>)}
      {said && <Confirm title={said.title} act={said.label} reason={shown.kind === "call" && asked === "retry" ? "none" : (said.reason ?? "optional")} isDangerous={said.isDangerous ?? false} onAct={act} onClose={() => setAsked(undefined)}><p>{said.text}</p></Confirm>}
    </div>
  );
}

function request(shown: Shown, step: StepView, act: Act, reason: string, seen: string): [string, object] {
  if (shown.kind === "call") return act === "resolve" ? [`${shown.base}/resolve`, { error: reason, reason }] : [`${shown.base}/${act}`, {}];
  const base = `${shown.base}/steps/${encodeURIComponent(step.name)}`;
  if (act === "agree" || act === "refuse") return [`${base}/answer`, { agree: act === "agree", reason, seen }];
  return [`${base}/${act}`, { reason }];
}
