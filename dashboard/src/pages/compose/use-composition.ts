// What is on the page while one composes, with a way back over every change.
import { useState } from "preact/hooks";
import { advanced, begun, redone, undone } from "./undo-history";
import type { Call } from "./composed-calls";

export interface Composition { calls: Call[]; program: string | null; case: string }
export interface Composing {
  now: Composition;
  /** `mark` names the field that is typed into; see `advanced`. */
  change: (step: (now: Composition) => Composition, mark?: string) => void;
  changeCalls: (step: (calls: Call[]) => Call[], mark?: string) => void;
  undo: (() => void) | undefined;
  redo: (() => void) | undefined;
}

export function useComposition(start: Composition): Composing {
  const [history, setHistory] = useState(() => begun(start));
  const change: Composing["change"] = (step, mark = "") => setHistory((before) => advanced(before, step(before.now), mark, Date.now()));
  return {
    now: history.now,
    change,
    changeCalls: (step, mark) => change((now) => ({ ...now, calls: step(now.calls) }), mark),
    undo: history.past.length > 0 ? () => setHistory(undone) : undefined,
    redo: history.future.length > 0 ? () => setHistory(redone) : undefined,
  };
}
