// Going back over what was done on a page, and forward again. Pure.

export interface History<T> { past: readonly T[]; now: T; future: readonly T[]; mark: string; at: number }

const MOST = 200;
const PAUSE_MS = 1_000;

export function begun<T>(now: T): History<T> {
  return { past: [], now, future: [], mark: "", at: 0 };
}

/** `mark` names the field that was typed into: letters typed there without a pause are one change. Without it, each is its own. */
export function advanced<T>(history: History<T>, next: T, mark: string, at: number): History<T> {
  if (next === history.now) return history;
  const isMore = mark !== "" && mark === history.mark && at - history.at < PAUSE_MS;
  const past = isMore ? history.past : [...history.past, history.now].slice(-MOST);
  return { past, now: next, future: [], mark, at };
}

export function undone<T>(history: History<T>): History<T> {
  const before = history.past.at(-1);
  if (before === undefined) return history;
  return { past: history.past.slice(0, -1), now: before, future: [history.now, ...history.future], mark: "", at: 0 };
}

export function redone<T>(history: History<T>): History<T> {
  const [after, ...future] = history.future;
  if (after === undefined) return history;
  return { past: [...history.past, history.now], now: after, future, mark: "", at: 0 };
}
