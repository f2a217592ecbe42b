// What the server answers about instances, processes, incidents, packs and keys, as far as the dashboard reads it.
import type { ErrorView, IncidentMark, Json, OverrideView, Schema, TaskView, Tier } from "./shapes";

export type Flags = Record<string, string | boolean | number>;

export interface InstanceRow {
  id: string; state: string; process: string; version: number; progress: string; business_key: string; waiting: string[]; incidents: number;
  started_at: string | null; ended_at: string | null; parent: string; principal: string; sequence: number;
}
export interface TokenView {
  number: number; element: string; name: string; kind: string; since: string | null; iteration?: number; verb?: string; attempt?: number;
  assignee?: string; groups?: string; claimed_by?: string; progress?: string; called?: string;
}
export interface InstanceWait { kind: string; element: string; text: string; key?: string; due_at?: string | null; name?: string }
export interface InstanceView {
  id: string; process: string; version: number; definition: string; state: string; progress: string; flags: Flags; data: Json;
  tokens: TokenView[]; waits: InstanceWait[]; incidents: IncidentMark[]; completed: string[]; error?: ErrorView | null; parent: string;
  business_key: string; tenant: string; principal: string; started_at: string | null; ended_at: string | null; suspended_at?: string | null;
  erased_at?: string | null; sequence: number; overrides: OverrideView[]; engine: string; engine_link: string;
}
export interface EngineView {
  name: string; url: string; reachable: boolean; version: string; lag_seconds: number; open_dispatches: number; waiting_steps: number;
  unreachable_since?: string | null; reason: string; ui: string; is_default: boolean; processes: string[]; tenants: string[];
}
export interface DiagramView {
  xml: string;
  marks: { tokens: { element: string; count: number }[]; completed?: { element: string; count: number }[]; incidents: IncidentMark[]; path: string[]; flows: string[] };
  last: number;
}
export interface MigrationPlan {
  instance: string; process: string; version: number; hash: string; moves: { token: number; before: string; after: string }[]; kept_timers: string[];
  kept_messages: string[]; ended_waits: string[]; new_waits: string[]; is_dry: boolean;
  new_verbs: { token: number; element: string; before: string; after: string; is_running: boolean }[]; goes_around: string[];
}

export interface StuckAction { act: string; title: string; operation: string; path: string }
export interface StuckView {
  id: string; kind: string; place: number; code: string; since: string | null; text: string; name: string; title: string; concerns: string; state: string;
  cause: string; verbs: string[]; actions: StuckAction[];
}
export interface DeadLetterItem { message_id: string; kind: string; key: string; received_at: string | null; reason: string; message: Json }
export interface Retried { id: string; status: number; state: string; problem?: { detail?: string; hint?: string; code?: string } | null }
export interface Receipt { answer: string; message_id: string; reason: string }

export interface ProcessVersion {
  process: string; version: number; hash: string; status: string; deployed_at: string | null; by: string; verb?: string; is_latest?: boolean; consequence?: Tier | "";
}
export interface Finding { code: string; severity: string; fact: string; hint?: string; element?: string; line?: number; column?: number; steps?: string[] }
export interface Proof { process: string; verdict: "proved" | "refuted" | "undecided"; bound?: string; states?: number; findings: Finding[] }
export interface Review { findings: Finding[]; proofs: Proof[] }
export interface ProcessView {
  process: string; version: number; status: string; hash: string; profile: string; verb: string; elements: { id: string; kind: string; name: string; type: string }[];
  flags: Record<string, Json>; bindings: Record<string, { verb: string; version: number; max_attempts: number; effects: string; hash: string; policy: Record<string, Json> }>; xml: string;
  consequence: Tier; reaches: string[]; engine: string;
  findings: Finding[]; verdict?: Proof | null;
}
export type Verdict = "goes_on" | "migrates" | "stays_pinned";
export interface StandingView { element: string; name: string; kind: string; count: number; incident: string }
export interface StateImpact {
  version: number; instances: number; examples: string[]; standing: StandingView[]; flags: Flags; is_suspended: boolean; verdict: Verdict;
  mapping: Record<string, string>; reason: string; element: string; code: string; steps: string[]; bound: string; goes_around: string[];
}
export interface ProcessImpact { process: string; version: number; is_deployed: boolean; verdict: Verdict; instances: number; states: StateImpact[] }
export interface VerbImpact { verb: string; version: number; hash: string; steps: number; instances: number; verdict: Verdict; reason: string }
export interface CarrierImpact { engine: string; build: string; current: string; instances: number; verdict: Verdict; reason: string }
export interface DeploymentImpact {
  verdict: Verdict; is_decided: boolean; processes: ProcessImpact[]; verbs: VerbImpact[]; carriers: CarrierImpact[]; bounds: string[];
}
export interface MappingView { source: string; target: string }
export interface WorkView {
  element: string; name: string; type: string; policy: string; attempts: number; idempotency_key: string; is_default_key: boolean;
  headers: Record<string, string>; inputs: MappingView[]; outputs: MappingView[];
  start_to_close_seconds: number | null; schedule_to_close_seconds: number | null;
}
export interface AwaitedView { element: string; name: string; message: string; correlation_key: string; outputs: MappingView[] }
export interface GateView { element: string; name: string; update: string; inputs: MappingView[]; outputs: MappingView[] }
export interface WayView { flow: string; source: string; target: string; condition: string }
export interface MirrorView { flag: string; stands_for: string }
export interface ContractView {
  process: string; version: number; profile: string; definition_id: string; workflow_type: string; workflow_id: string; work: WorkView[]; waits: AwaitedView[];
  gates: GateView[]; ways: WayView[]; flags: MirrorView[];
}
export interface Versions { process: string; versions: ProcessVersion[] }
export interface DeployAnswer extends Review { deployments: { process: string; version: number; hash: string; is_new: boolean; findings: Finding[]; consequence?: Tier | "" }[] }

export interface VerbRow { name: string; version: number; kind: string; description: string; consequence: string; sentences: string[]; domain?: string }
export interface VerbDetail {
  name: string; version: number; versions: number[]; kind: string; description: string; consequence: string; domain: string;
  sentences: { step?: string[]; summary?: string[]; clarify?: Record<string, string> } & Record<string, Json>; input_schema: Schema; output_schema: Schema | null;
  execution: Record<string, Json>; index: string[]; writes: string[]; process: string; metadata: Record<string, Json>; content_hash: string;
  contract?: { may_raise?: string[]; writes_flags?: string[] } & Record<string, Json> | null;
}
export interface PackRow { id: string; name: string; version: string; description: string; questions: number; templates: string[] }

export interface KeyView {
  id: string; name: string; principal: string; kind: string; roles: string[]; state: string; groups: string[]; verbs: string[]; operations: string[];
  created_at: string | null; created_by: string; expires_at: string | null; revoked_at: string | null; revoked_by?: string;
}
export interface NewKey { id: string; text: string; view: KeyView }

export interface Rung { at: string | null; act: string; to: string; is_done: boolean }
export interface Proposal { data: Json; agent: string; why: string; confidence?: number | null; add?: Json; skip?: string[]; finish?: boolean; reason?: string }
export interface Question { agent: string; text?: string; data?: Json }
export type Task = Omit<TaskView, "form" | "proposal"> & { question?: Question | null; verb?: string; ladder?: Rung[]; delegated_by?: string[]; number?: number; form?: Schema | null; proposal?: Proposal | null };
