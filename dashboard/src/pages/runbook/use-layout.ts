// The layout of a plan, made in a worker whenever the plan's shape changes.
import { useEffect, useState } from "preact/hooks";
import { type Linked, linksOf, type Placed, placeQuickly, ranksOf, shapeOf } from "./graph-geometry";

let worker: Worker | null = null;
let asked = 0;
const waiting = new Map<number, (placed: Placed) => void>();

function begin(): Worker {
  if (worker) return worker;
  worker = new Worker(new URL("./layout-worker.ts", import.meta.url), { type: "module" });
  worker.addEventListener("message", (event: MessageEvent<{ number: number; placed: Placed }>) => {
    waiting.get(event.data.number)?.(event.data.placed);
    waiting.delete(event.data.number);
  });
  return worker;
}

function ask(steps: Linked[]): Promise<Placed> {
  const names = steps.map((step) => step.name);
  const links = linksOf(steps);
  return new Promise((resolve) => {
    try {
      const number = ++asked;
      const to = begin();
      waiting.set(number, resolve);
      to.postMessage({ number, names, links });
    } catch {
      // A browser that forbids workers draws it the quick way.
      resolve(placeQuickly(names, links, ranksOf(names, links)));
    }
  });
}

export function useLayout(steps: Linked[]): Placed | undefined {
  const shape = shapeOf(steps);
  const [placed, setPlaced] = useState<{ shape: string; placed: Placed }>();
  useEffect(() => {
    let isWanted = true;
    void ask(steps).then((found) => isWanted && setPlaced({ shape, placed: found }));
    return () => {
      isWanted = false;
    };
  }, [shape]);
  return placed?.placed;
}
