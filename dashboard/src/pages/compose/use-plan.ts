// The plan of what is on the page, asked for whenever that has rested for a moment.
import { useEffect, useRef, useState } from "preact/hooks";
import { post, type Problem } from "../../api/client";
import type { PlanView } from "../../api/shapes";
import { asProblem } from "../../live/resource";

const REST_MS = 350;

export interface Planned { plan: PlanView | undefined; problem: Problem | undefined; isCurrent: boolean }

export function usePlan(path: string, body: unknown, isWanted: boolean): Planned {
  const [state, setState] = useState<{ plan?: PlanView; problem?: Problem; of: string }>({ of: "" });
  const text = JSON.stringify(body);
  const latest = useRef(text);
  latest.current = text;
  useEffect(() => {
    if (!isWanted) {
      setState({ of: text });
      return;
    }
    const timer = setTimeout(() => {
      post<PlanView>(path, body).then(
        (plan) => latest.current === text && setState({ plan, of: text }),
        (error: unknown) => latest.current === text && setState({ problem: asProblem(error), of: text }),
      );
    }, REST_MS);
    return () => clearTimeout(timer);
  }, [text, isWanted]);
  return { plan: state.plan, problem: state.problem, isCurrent: state.of === text };
}
