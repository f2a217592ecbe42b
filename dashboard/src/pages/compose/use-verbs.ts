// Definitions of the verbs on the page, each read once.
import { useRef, useState } from "preact/hooks";
import { get, type Problem } from "../../api/client";
import type { VerbView } from "../../api/shapes";
import { type Shape, shapeOf } from "../../forms/schema-shape";
import { asProblem } from "../../live/resource";

export interface KnownVerb { view: VerbView; shape: Shape }

export function useVerbs(): { find: (name: string) => KnownVerb | undefined; need: (name: string) => Promise<KnownVerb | undefined>; problem: Problem | undefined } {
  const known = useRef(new Map<string, KnownVerb>());
  const asked = useRef(new Map<string, Promise<KnownVerb | undefined>>());
  const [, setCount] = useState(0);
  const [problem, setProblem] = useState<Problem>();
  const read = async (name: string) => {
    try {
      const view = await get<VerbView>(`/verbs/${encodeURIComponent(name)}`);
      const found = { view, shape: shapeOf(view.input_schema, "Arguments") };
      known.current.set(name, found);
      setCount((count) => count + 1);
      return found;
    } catch (error) {
      asked.current.delete(name);
      setProblem(asProblem(error));
      return undefined;
    }
  };
  const need = (name: string) => {
    const before = asked.current.get(name);
    if (before) return before;
    const mine = read(name);
    asked.current.set(name, mine);
    return mine;
  };
  return { find: (name) => known.current.get(name), need, problem };
}
