// A runbook, a draft or a single call: three answers of the server, one page.
import { get, Problem } from "../../api/client";
import type { AmendmentView, Json, OverrideView, Page, PlanView, RunbookRow, RunbookView, StepView, WaitingFor } from "../../api/shapes";

export interface Fault { step: number; code: string; message: string; hint?: string }
export interface DraftView {
  id: string; state: string; case: string; document: Json; program: string; plan: PlanView | null; problems: Fault[]; revision: number; revisions: number;
  sequence: number; principal: string; started_at: string | null;
}
export interface CallView {
  id: string; verb: string; version: number; state: string; result?: Json; error?: StepView["error"]; waiting_for?: WaitingFor | null; args?: Json; progress: string;
  attempt?: StepView["attempt"]; tenant: string; principal: string; started_at: string | null; ended_at: string | null; sequence: number; sentence: string;
  carrier?: StepView["carrier"]; proposal?: Json; erased_at?: string | null;
  amendments: AmendmentView[]; overrides: OverrideView[];
}

export interface Shown { kind: "runbook" | "call"; base: string; view: RunbookView; draft: DraftView | null; call: CallView | null }

export async function readRunbook(id: string, signal: AbortSignal): Promise<Shown> {
  const path = `/runbooks/${encodeURIComponent(id)}`;
  try {
    const view = await get<RunbookView>(path, { signal });
    const draft = view.state === "draft" ? await get<DraftView>(`/drafts/${encodeURIComponent(id)}`, { signal }) : null;
    return { kind: "runbook", base: path, view, draft, call: null };
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 404) throw error;
    const base = `/calls/${encodeURIComponent(id)}`;
    const call = await get<CallView>(base, { signal }).catch(() => Promise.reject(error));
    const title = call.sentence || (await titleInList(call.id, signal));
    return { kind: "call", base, view: asRunbook({ ...call, sentence: title }), draft: null, call };
  }
}

async function titleInList(id: string, signal: AbortSignal): Promise<string> {
  const page = await get<Page<RunbookRow>>("/runbooks", { signal, query: { kind: "calls", q: id, limit: 1 } });
  return page.items.find((row) => row.id === id)?.title ?? "";
}

const STEP_STATES: Record<string, string> = { executing: "running", escalated: "parked" };

/** A call is a runbook of one step. */
function asRunbook(call: CallView): RunbookView {
  const step: StepView = {
    name: call.verb, number: 1, verb: call.verb, state: STEP_STATES[call.state] ?? call.state, sentence: call.sentence, args: call.args ?? null,
    result: call.result ?? null, error: call.error ?? null, waiting_for: call.waiting_for ?? null, carrier: call.carrier ?? null, attempt: call.attempt ?? null,
    progress: call.progress, started_at: call.started_at, ended_at: call.ended_at, proposal: call.proposal ?? null,
  };
  return {
    id: call.id, state: call.state, case: "", steps: [step], progress: call.progress, plan_hash: "", version: 1, sequence: call.sequence, is_sealed: true,
    started_at: call.started_at, ended_at: call.ended_at, tenant: call.tenant, principal: call.principal, erased_at: call.erased_at ?? null, overrides: call.overrides,
  };
}

export const ENDED = new Set(["completed", "failed", "cancelled"]);

export function titleOf(shown: Shown): string {
  const first = shown.draft?.plan?.steps[0] ?? shown.view.steps.find((step) => step.verb) ?? shown.view.steps[0];
  return first?.sentence || first?.verb || (shown.draft ? "Empty draft" : "Runbook");
}

/** What a step's state is called where it waits: the kind of wait says more than "parked". */
export function waitOf(step: StepView): string {
  const kind = step.waiting_for?.kind ?? "";
  const words: Record<string, string> = {
    completion: "waits for an answer", process: "its process is under way", escalation: "escalated", gate: "waits for agreement", retry: "tries again",
    incident: "stuck", task: "waits for a person",
  };
  return words[kind] ?? "waits";
}
