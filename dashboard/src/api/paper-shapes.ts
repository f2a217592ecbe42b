// What the server answers about lifecycles and documents, as far as the dashboard reads it.
import type { Json, Schema } from "./shapes";

export interface StateView { name: string; description: string; is_terminal: boolean; requirements: string[] }
export interface LifecycleVersionView { lifecycle: string; version: number; label: string; status: string; deployed_at: string; by: string; is_latest: boolean; states: StateView[] }
export interface LifecycleItem {
  id: string; lifecycle: string; version: number; subject: string; state: string; status: string; entered_at: string; blockers: string[]; is_overdue: boolean; is_stuck: boolean;
}
export interface CallText { verb: string; args: Record<string, Json>; text: string }
export interface DeliveryView {
  channel: string; address: string; effect_id: string; status: string; attempts: number; sent_at: string | null; is_possible_repeat: boolean; error: string;
}
export interface PendingTaskView {
  correlation_id: string; key: string; blocker: string; verb: string; status: string; attempt: number; created_at: string; by: string; expires_at: string | null;
  expected: number; received: number; failed: number; cargo: string[]; error: string; deliveries: DeliveryView[];
}
export interface BlockerView {
  key: string; type: string; description: string; missing: string[]; resolution: CallText | null; is_automatic: boolean; attempts: number; max_attempts: number; reason: string;
}
export interface RequirementView { key: string; type: string; description: string; is_met: boolean; missing: string[] }
export interface TransitionView {
  target: string; mode: string; description: string; is_open: boolean; missing: string[]; role: string; needs_reason: boolean; four_eyes: boolean; proposed_by: string; due: string | null;
}
export interface MoveView { source: string; target: string; cause: string; at: string; by: string; reason: string }
export interface ProposedMigration { version: number; state: string; by: string; reason: string }
export interface LifecycleStatus {
  id: string; lifecycle: string; version: number; subject: string; state: string; description: string; status: string; progress: number; is_overdue: boolean;
  started_at: string; started_by: string; entered_at: string; ended_at: string | null; blockers: BlockerView[]; requirements: RequirementView[];
  transitions: TransitionView[]; actions: { name: string; description: string; call: CallText | null; reason: string }[]; tasks: PendingTaskView[]; history: MoveView[];
  stuck: { code: string; text: string; since: string } | null; sequence: number; migration: ProposedMigration | null;
}
export interface LifecycleBegun { is_new: boolean; instance: LifecycleStatus }
export interface TransitionAnswer { answer: string; instance: LifecycleStatus; changed: string[] }
export interface LifecycleDrawing { id: string; state: string; svg: string }
export interface EntryView { sequence: number; at: string; by: string; entry: string; data: Record<string, Json> }

export interface BlobView { blob: string; size: number; media_type: string }
export interface ReasonView { code: string; category: string; client: string; operator: string; next_action: string; retryable: boolean }
export interface VersionView {
  number: number; status: string; uri: string; received_at: string | null; received_by: string; source: string; has_data: boolean; blob: BlobView | null;
  valid_from: string | null; valid_to: string | null; decided_at: string | null; decided_by: string; reason: ReasonView | null; extraction: string; confidence: number | null; scan: string;
}
export interface DocumentView {
  id: string; uri: string; type: string; subject: string; status: string; sequence: number; version: number | null; versions: VersionView[]; parent: string; source: string;
  correlation_id: string; created_at: string | null; created_by: string; valid_from: string | null; valid_to: string | null; superseded_by: string; erased_at: string | null;
}
export interface DocumentItem {
  id: string; type: string; subject: string; status: string; version: number | null; valid_from: string | null; valid_to: string | null; created_at: string | null; reason: string;
  parent: string; correlation_id: string;
}
export interface ContentView { id: string; version: number; name: string; source_ref: string; data: Json; extracted: Json; confidence: number | null; note: string }
export interface DocumentTypeView {
  name: string; description: string; media_types: string[]; max_bytes: number; validity: string; retention: string; verify_groups: string[]; four_eyes: boolean;
  data_schema: Schema | null; extracted_schema: Schema | null; extraction: string; scan: string;
}
export interface LinkView { link: string; expires_at: string | null }
