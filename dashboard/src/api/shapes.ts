// What the server's answers look like, as far as the dashboard reads them.
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Schema = { [key: string]: Json };

export interface Page<T> { items: T[]; next: string | null }
export interface FieldError { path: string; message: string; hint?: string }

export interface Session {
  principal: string;
  tenant: string;
  kind: "person" | "service" | "agent";
  roles: string[];
  groups: string[];
  csrf: string;
  authentication: string | string[];
  may: string[];
}

export interface ErrorView { failure_class: string; code: string; message: string }
export interface WaitingFor {
  kind: string; key?: string; verb?: string; since?: string | null; due_at?: string | null; escalation?: string; code?: string; text?: string;
}
export interface AttemptView { attempt: number; status: string; started_at: string | null; ended_at?: string | null; error?: ErrorView | null }
export interface CarrierView { process: string; version: number; definition: string; instance: string; state: string; progress: string; completed?: string[]; incidents?: IncidentMark[]; engine?: string; engine_link?: string; task_link?: string }
export interface IncidentMark { token: number; element: string; code: string; text: string; since: string | null }

export interface StepView {
  name: string; number: number; verb: string; state: string; sentence?: string; section?: string; args?: Json; result?: Json;
  error?: ErrorView | null; waiting_for?: WaitingFor | null; carrier?: CarrierView | null; attempt?: AttemptView | null;
  needs?: string[]; after?: string[]; branch?: Record<string, boolean>; progress?: string; side?: boolean | null; gate?: string;
  on_failure?: string; flags?: Record<string, string | boolean | number>; undoes?: string; provenance?: Record<string, string>;
  started_at?: string | null; ended_at?: string | null; proposal?: Json; mode?: string; task_link?: string;
}
export interface RunbookView {
  id: string; state: string; case: string; steps: StepView[]; progress: string; plan_hash: string; version: number; sequence: number;
  is_sealed: boolean; started_at: string | null; ended_at: string | null; tenant: string; principal: string;
  pack?: Record<string, string> | null; erased_at?: string | null; error?: StepView["error"]; overrides: OverrideView[];
}
export interface RunbookRow {
  id: string; state: string; case: string; title: string; progress: string; verb?: string; steps: number; done: number; waiting: string[];
  started_at: string | null; ended_at: string | null; principal: string; sequence: number;
}
export interface PlannedStep {
  name: string; number: number; verb: string; sentence?: string; section?: string; args?: Json; needs?: string[]; after?: string[];
  branch?: Record<string, boolean>; on_failure?: string; gate?: string; writes?: string[]; parks?: string; engine?: string;
}
export type Tier = "benign" | "reviewable" | "requires_confirmation" | "requires_authorisation";
export interface PlanView {
  plan_hash: string; steps: PlannedStep[]; waves: string[][]; locks: string[]; tier: Tier; tier_reason: string; decisions: string[];
  remarks: string[];
  /** What has to be typed to authorise it; empty for most. */
  phrase: string;
}
export interface AmendmentView { number: number; target: "input" | "result"; reason: string; by: string; at: string | null; approved_by: string }
export interface Correction { amendment: AmendmentView; data: Json }
export interface EventView { sequence: number; at: string | null; entry: string; command: string; principal: string; data: Record<string, Json>; trace?: string; key?: string }
export interface OutcomeEvent {
  cursor: string; at: string | null; event: string; text: string; step: number; verb: string; kind: string; reason: string; sub_verb: string;
  principal: string; refs: Record<string, string | number>; error: ErrorView | null;
}
export interface VerbRow { name: string; version: number; kind: string; description: string; consequence: Tier; sentences: string[]; domain?: string }
export interface VerbView {
  name: string; version: number; versions: number[]; kind: string; description: string; consequence: Tier; domain: string;
  sentences: { step?: string[]; summary?: string[]; clarify?: Record<string, string> }; input_schema: Schema; output_schema: Schema | null;
  execution: Record<string, Json>; index: string[]; writes: string[]; process: string; metadata: Record<string, Json>; content_hash: string;
}
export interface TaskView {
  key: string; instance: string; token: number; process: string; element: string; name: string; assignee?: string; groups?: string; users?: string;
  due?: string; claimed_by?: string; since?: string | null; state?: string; due_at?: string | null; is_overdue?: boolean; four_eyes?: boolean;
  requester?: string; form?: Schema | null; known?: Record<string, Json>; proposal?: Json; link?: string; seen?: string;
  progress?: string; given?: { group: string; by: string; at?: string | null; data?: Json }[];
}
export interface OverrideView {
  number: number; what: string; tasks: string[]; needs: string; by: string; reason: string; at: string | null; state: string; agreed_by: string[]; reasons: string[];
}
export interface Overview {
  needs_me: { tasks: number; first: TaskView[] };
  stuck: { incidents: number; dead_letters: number; overdue_tasks: number; quarantined: number };
  running: { runbooks: Record<string, number>; instances: Record<string, number>; lifecycles: Record<string, number> };
  throughput: { at: string; started: number; ended: number; failed: number }[];
  waits: { kind: string; count: number; oldest: string | null }[];
  at: string;
  /** A count this large means that many or more. */
  counted_to?: number;
  counted_to_hourly?: number;
  documents_to_verify: number | null;
}
export interface LiveEvent { cursor: string; id: string; kind: string; sequence: number; at: string; entry: string; state: string }
