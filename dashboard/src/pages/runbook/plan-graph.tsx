// The plan as a graph: steps coloured and named by state, moved and zoomed by hand and by keys.
import { memo } from "preact/compat";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { signOf, toneOf } from "../../parts/state-badge";
import { Loading } from "../../parts/load-states";
import { fit, NODE, pathOf, type Placed, type View, zoomed } from "./graph-geometry";
import { useLayout } from "./use-layout";
import "./graph.css";

export interface Drawn { name: string; verb: string; state: string; needs?: string[]; after?: string[]; branch?: Record<string, boolean>; gate?: string }
interface GraphProps { steps: Drawn[]; selected: string; onSelect: (name: string) => void; label: string }

const MOVES: Record<string, readonly [number, number]> = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
const READABLE = 0.45;
const MAX_LETTERS = 22;

export function PlanGraph({ steps, selected, onSelect, label }: GraphProps) {
  const placed = useLayout(steps);
  const room = useRef<HTMLDivElement>(null);
  const moved = useRef<SVGGElement>(null);
  const view = useRef<View>({ x: 0, y: 0, scale: 1 });
  const isTouched = useRef(false);
  const [wide, setWide] = useState(600);

  const show = (next: View) => {
    view.current = next;
    moved.current?.setAttribute("transform", `translate(${next.x},${next.y}) scale(${next.scale})`);
    room.current?.classList.toggle("far", next.scale < READABLE);
  };
  const size = () => ({ width: room.current?.clientWidth ?? 1, height: room.current?.clientHeight ?? 1 });
  const fitAll = () => placed && show(fit(placed.width, placed.height, size()));
  const begin = () => {
    if (!placed) return;
    const whole = fit(placed.width, placed.height, size());
    // A large plan begins at a readable size at its top rather than as a carpet of dots.
    show(whole.scale >= READABLE ? whole : { scale: READABLE + 0.15, x: size().width / 2 - firstX(placed) * (READABLE + 0.15), y: 8 });
  };
  useLayoutEffect(() => {
    if (!isTouched.current) begin();
  }, [placed]);
  useEffect(() => {
    const element = room.current;
    if (!element) return;
    const watcher = new ResizeObserver(() => {
      setWide(element.clientWidth);
      if (!isTouched.current) begin();
    });
    watcher.observe(element);
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      isTouched.current = true;
      const box = element.getBoundingClientRect();
      show(zoomed(view.current, Math.exp(-event.deltaY / 300), { x: event.clientX - box.left, y: event.clientY - box.top }));
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => {
      watcher.disconnect();
      element.removeEventListener("wheel", wheel);
    };
  }, [placed]);
  useEffect(() => {
    const at = placed?.nodes[selected];
    if (!at || !isTouched.current) return;
    reveal(at);
  }, [selected]);

  const reveal = (at: { x: number; y: number }) => {
    const { x, y, scale } = view.current;
    const { width, height } = size();
    const seen = { x: at.x * scale + x, y: at.y * scale + y };
    if (seen.x < 100 || seen.y < 30 || seen.x > width - 100 || seen.y > height - 30) show({ scale, x: width / 2 - at.x * scale, y: height / 2 - at.y * scale });
  };
  const zoom = (factor: number) => {
    isTouched.current = true;
    const { width, height } = size();
    show(zoomed(view.current, factor, { x: width / 2, y: height / 2 }));
  };
  const choose = (step: number) => {
    const order = steps.map((each) => each.name);
    const next = order[Math.min(order.length - 1, Math.max(0, order.indexOf(selected) + step))];
    isTouched.current = true;
    if (next) onSelect(next);
  };
  const keys = (event: KeyboardEvent) => {
    const move = MOVES[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (move) show({ ...view.current, x: view.current.x + move[0], y: view.current.y + move[1] });
    else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") fitAll();
    else if (event.key === "]" || event.key === "[") choose(event.key === "]" ? 1 : -1);
    else return;
    isTouched.current = true;
    event.preventDefault();
  };
  const drag = useDrag(view, show, isTouched);

  return (
    <div class="plan-graph" style={{ height: `${placed ? heightFor(placed, wide) : 340}px` }}>
      <div class="tools row" role="toolbar" aria-label="Graph">
        <button type="button" class="button square tight" aria-label="Zoom in" onClick={() => zoom(1.25)}>+</button>
        <button type="button" class="button square tight" aria-label="Zoom out" onClick={() => zoom(0.8)}>−</button>
        <button type="button" class="button tight" onClick={() => { isTouched.current = true; fitAll(); }}>Fit</button>
      </div>
      <div class="room" ref={room} tabIndex={0} role="group" aria-label={`${label} Arrow keys move, plus and minus zoom, 0 shows all, brackets choose a step.`} onKeyDown={keys} {...drag}>
        {!placed && <Loading label="Drawing the plan" lines={4} />}
        <svg aria-hidden="true" focusable="false">
          <defs>
            <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0 8 4 0 8z" class="arrow" /></marker>
          </defs>
          <g ref={moved}>
            {placed && <Lines placed={placed} />}
            {placed && steps.map((step) => {
              const at = placed.nodes[step.name];
              return at && <Node key={step.name} name={step.name} state={step.state} isChoice={!step.verb} gate={step.gate ?? ""} x={at.x} y={at.y} isSelected={step.name === selected} onSelect={onSelect} />;
            })}
          </g>
        </svg>
      </div>
    </div>
  );
}

/** As much room as the plan takes at the size it is shown in. */
function heightFor(placed: Placed, width: number): number {
  const scale = Math.min(1, width / Math.max(placed.width, 1));
  return Math.min(680, Math.max(220, (scale < READABLE ? placed.height : placed.height * scale) + 60));
}

function firstX(placed: Placed): number {
  const [first] = Object.values(placed.nodes);
  return first?.x ?? 0;
}

const Lines = memo(function Lines({ placed }: { placed: Placed }) {
  return (
    <>
      {/* From afar all lines are one: hundreds of their own would be slow to draw and say no more. */}
      <path class="edges" d={placed.edges.map((edge) => pathOf(edge.points)).join("")} />
      {placed.edges.map((edge) => (
        <g key={`${edge.from}>${edge.to}`} class={`edge ${edge.kind}`}>
          <path d={pathOf(edge.points)} marker-end="url(#arrow)" />
          {edge.label && edge.points[1] && <text x={edge.points[1].x + 5} y={edge.points[1].y + 4}>{edge.label}</text>}
        </g>
      ))}
    </>
  );
});

interface NodeProps { name: string; state: string; isChoice: boolean; gate: string; x: number; y: number; isSelected: boolean; onSelect: (name: string) => void }

const Node = memo(function Node({ name, state, isChoice, gate, x, y, isSelected, onSelect }: NodeProps) {
  const shown = name.length > MAX_LETTERS ? `${name.slice(0, MAX_LETTERS - 1)}…` : name;
  const word = `${signOf(state)} ${state}${isChoice ? " choice" : ""}${gate ? ` · gate ${gate}` : ""}`;
  return (
    <g class={`node ${toneOf(state)} ${isSelected ? "selected" : ""} ${isChoice ? "choice" : ""}`} transform={`translate(${x - NODE.width / 2},${y - NODE.height / 2})`} data-step={name} onClick={() => onSelect(name)}>
      <title>{`${name}: ${state}`}</title>
      <rect width={NODE.width} height={NODE.height} rx={isChoice ? 25 : 6} />
      {!isChoice && <rect class="band" width={5} height={NODE.height} rx={2.5} />}
      <text x={16} y={21} class="name">{shown}</text>
      <text x={16} y={39} class="word">{word}</text>
    </g>
  );
});

function useDrag(view: { current: View }, show: (view: View) => void, isTouched: { current: boolean }) {
  const hands = useRef(new Map<number, { x: number; y: number }>());
  const isMoving = useRef(false);
  const down = (event: PointerEvent) => {
    hands.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
    isMoving.current = false;
  };
  const move = (event: PointerEvent) => {
    const before = hands.current.get(event.pointerId);
    if (!before) return;
    const dx = event.clientX - before.x;
    const dy = event.clientY - before.y;
    if (!isMoving.current && Math.hypot(dx, dy) < 4) return;
    if (!isMoving.current) (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    isMoving.current = true;
    isTouched.current = true;
    const others = [...hands.current].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    hands.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const other = others[0];
    if (!other) return show({ ...view.current, x: view.current.x + dx, y: view.current.y + dy });
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const factor = Math.hypot(event.clientX - other.x, event.clientY - other.y) / Math.max(1, Math.hypot(before.x - other.x, before.y - other.y));
    show(zoomed(view.current, factor, { x: other.x - box.left, y: other.y - box.top }));
  };
  const up = (event: PointerEvent) => void hands.current.delete(event.pointerId);
  return { onPointerDown: down, onPointerMove: move, onPointerUp: up, onPointerCancel: up };
}
