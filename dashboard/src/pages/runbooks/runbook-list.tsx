// The rows in sight of a list that may be very long.
import { memo } from "preact/compat";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { RunbookRow } from "../../api/shapes";
import { StateBadge } from "../../parts/state-badge";
import { shortId } from "../../parts/short-id";
import { Ago } from "../../parts/relative-time";
import { scrollToRow, spanInSight } from "../../lists/visible-rows";
import { Link, navigate } from "../../router";
import { isTyping } from "../../shortcuts";
import type { Rows } from "./use-rows";

const NARROW = "(max-width: 800px)";
const HEIGHTS = { wide: 52, narrow: 104 };
const NEAR_END = 40;

export function List({ rows }: { rows: Rows }) {
  const { known } = rows;
  const view = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ top: 0, height: 600 });
  const [isNarrow, setNarrow] = useState(matchMedia(NARROW).matches);
  const [active, setActive] = useState(-1);
  const rowHeight = isNarrow ? HEIGHTS.narrow : HEIGHTS.wide;
  const span = spanInSight(place.top, place.height, rowHeight, known.rows.length);

  useLayoutEffect(() => {
    const element = view.current;
    if (!element) return;
    const measure = () => setPlace({ top: element.scrollTop, height: element.clientHeight });
    const watcher = new ResizeObserver(measure);
    watcher.observe(element);
    const media = matchMedia(NARROW);
    const narrow = () => setNarrow(media.matches);
    media.addEventListener("change", narrow);
    measure();
    return () => {
      watcher.disconnect();
      media.removeEventListener("change", narrow);
    };
  }, []);
  useEffect(() => {
    rows.see(span);
    if (span.last > known.rows.length - NEAR_END) rows.more();
  }, [span.first, span.last, known.rows.length]);

  const activate = (index: number) => {
    const element = view.current;
    const next = Math.max(0, Math.min(known.rows.length - 1, index));
    if (!element || !known.rows[next]) return;
    element.scrollTop = scrollToRow(next, element.scrollTop, element.clientHeight, rowHeight);
    setPlace({ top: element.scrollTop, height: element.clientHeight });
    setActive(next);
    requestAnimationFrame(() => document.getElementById(`row-${known.rows[next]?.id}`)?.focus({ preventScroll: true }));
  };
  useEffect(() => {
    const keys = (event: KeyboardEvent) => {
      if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      const steps: Record<string, number> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 10, PageUp: -10 };
      const step = event.key === "Home" ? -known.rows.length : event.key === "End" ? known.rows.length : steps[event.key];
      if (step === undefined) return;
      event.preventDefault();
      activate(active + step);
    };
    document.addEventListener("keydown", keys);
    return () => document.removeEventListener("keydown", keys);
  });

  return (
    <div class="card runbook-list" role="table" aria-label="Runbooks" aria-rowcount={known.isWhole ? known.rows.length + 1 : -1}>
      <div class="head line" role="row" aria-rowindex={1}>
        <span role="columnheader">State</span><span role="columnheader">Runbook</span><span role="columnheader">Progress</span><span role="columnheader">Case</span><span role="columnheader">Started</span>
      </div>
      <div class="view" ref={view} role="rowgroup" tabIndex={0} aria-label="Rows; arrow keys move" onScroll={(event) => setPlace({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })}>
        <div class="whole" style={{ height: `${known.rows.length * rowHeight}px` }} role="presentation">
          {known.rows.slice(span.first, span.last).map((row, offset) => (
            <Line key={row.id} row={row} index={span.first + offset} top={(span.first + offset) * rowHeight} height={rowHeight} isActive={span.first + offset === active} />
          ))}
        </div>
        {!known.isWhole && <p class="soft small more" role="presentation">Reading more…</p>}
      </div>
    </div>
  );
}

interface LineProps { row: RunbookRow; index: number; top: number; height: number; isActive: boolean }

const Line = memo(function Line({ row, index, top, height, isActive }: LineProps) {
  const to = `/runbooks/${row.id}`;
  const share = row.steps ? Math.round((100 * row.done) / row.steps) : 0;
  const open = (event: MouseEvent) => {
    if (!(event.target as HTMLElement).closest("a,button") && !getSelection()?.toString()) navigate(to);
  };
  return (
    <div class={`line ${isActive ? "active" : ""}`} role="row" aria-rowindex={index + 2} style={{ transform: `translateY(${top}px)`, height: `${height}px` }} onClick={open} data-id={row.id}>
      <span role="cell" class="state"><StateBadge state={row.state} /></span>
      <span role="cell" class="title">
        <Link to={to} id={`row-${row.id}`}>{row.title || row.verb || "Untitled"}</Link>
        <span class="soft small"><code>{shortId(row.id)}</code> · {row.principal}</span>
      </span>
      <span role="cell" class="progress">
        <span class="text">{row.progress}</span>
        <span class="meter" aria-hidden="true"><span style={{ width: `${share}%` }} /></span>
      </span>
      <span role="cell" class="case">{row.case ? <Link to={`/runbooks?case=${encodeURIComponent(row.case)}`} aria-label={`Runbooks of case ${row.case}`}>{row.case}</Link> : <span class="soft">–</span>}</span>
      <span role="cell" class="started"><Ago at={row.started_at} /></span>
    </div>
  );
});
