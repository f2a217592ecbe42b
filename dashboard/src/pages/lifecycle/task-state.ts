// Which pending tasks are still open, and which document a piece of cargo points to. Pure.
export function isAsked(task: { status: string }): boolean {
  return task.status === "pending" || task.status === "partial";
}

/** The id in `document://tenant/id`; null for anything else. */
export function documentOf(reference: string): string | null {
  return /^(?:document|version):\/\/[^/]+\/([0-9a-z]{26})(?:\/\d+)?$/.exec(reference)?.[1] ?? null;
}
