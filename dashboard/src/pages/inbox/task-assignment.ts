// Whom a task is for, and what the person who looks at it may do with it.
import type { Task } from "../../api/process-shapes";

export function forWhom(task: Pick<Task, "assignee" | "groups" | "users" | "progress">): string {
  if (task.progress) return task.progress;
  const named = [task.assignee, task.users].filter(Boolean).join(", ");
  if (named) return `for ${named}${task.groups ? ` (${task.groups})` : ""}`;
  return task.groups ? `for ${task.groups}` : "for anybody";
}

export interface Standing {
  isMine: boolean;
  /** Somebody else has claimed it. */
  holder: string;
  /** The one who asked may not answer, where four eyes are needed. */
  isRequester: boolean;
}

export function standingOf(task: Pick<Task, "claimed_by" | "four_eyes" | "requester">, principal: string): Standing {
  const holder = task.claimed_by ?? "";
  return {
    isMine: holder !== "" && holder === principal,
    holder: holder !== "" && holder !== principal ? holder : "",
    isRequester: task.four_eyes === true && task.requester !== "" && task.requester === principal,
  };
}

/** Of the task of a step, the process is its verb; others belong to an instance. */
export function isOfStep(task: Pick<Task, "process" | "verb" | "element">): boolean {
  return task.process === task.verb || task.element === "";
}
