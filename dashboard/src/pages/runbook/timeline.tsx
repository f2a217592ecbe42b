// When each step ran and waited: a bar for every span, durable waits drawn as long as they are.
import { useState } from "preact/hooks";
import { get } from "../../api/client";
import type { LiveEvent } from "../../api/shapes";
import { useResource } from "../../live/resource";
import { signOf, type Tone, toneOf } from "../../parts/state-badge";
import { Blank, Loaded } from "../../parts/load-states";
import { now } from "../../parts/relative-time";
import { durationText, exactText } from "../../parts/time-text";
import { scaleOf, type Scale, type ScaleKind, suitable } from "./time-scale";
import "./timeline.css";

interface Span { state: string; since: string | null; until: string | null }
interface StepTime { step: number; name: string; verb: string; state: string; spans: Span[]; due_at: string | null }
interface Times { id: string; state: string; started_at: string | null; ended_at: string | null; now: string | null; steps: StepTime[]; sequence: number }

const SHOWN = new Set(["running", "ready", "parked", "gated", "retrying", "stuck", "escalated"]);
const WAITS = new Set(["parked", "gated", "retrying", "stuck", "escalated"]);
const TONES: Record<string, Tone> = { gated: "wait", retrying: "odd", stuck: "bad" };

export function Timeline({ base, id, onSelect }: { base: string; id: string; onSelect: (name: string) => void }) {
  const times = useResource((signal) => get<Times>(`${base}/timeline`, { signal }), [base], (event: LiveEvent) => event.id === id);
  const [chosen, setChosen] = useState<ScaleKind>();
  return (
    <Loaded from={times}>
      {(data) => {
        const start = Date.parse(data.started_at ?? data.now ?? "");
        const end = data.ended_at ? Date.parse(data.ended_at) : now.value;
        const length = Math.max(0.001, (end - start) / 1000);
        const rows = data.steps.map((step) => ({ step, bars: barsOf(step, start, end) })).filter((row) => row.bars.length > 0);
        if (rows.length === 0) return <Blank title="Nothing has run yet" />;
        const kind = chosen ?? suitable(rows.flatMap((row) => row.bars.map((bar) => bar.length)), length);
        const scale = scaleOf(kind, length);
        return (
          <div class="timeline">
            <div class="row">
              <p class="soft">{durationText(length)} {data.ended_at ? "from start to end" : "so far"}</p>
              <div class="chips push" role="group" aria-label="Scale">
                {(["linear", "log"] as const).map((each) => <button key={each} type="button" class="chip" aria-pressed={kind === each} onClick={() => setChosen(each)}>{each === "linear" ? "Linear" : "Logarithmic"}</button>)}
              </div>
            </div>
            <div class="lanes" role="list" aria-label="Steps in time">
              {rows.map(({ step, bars }) => <Lane key={step.step} step={step} bars={bars} scale={scale} onSelect={onSelect} />)}
              <div class="lane marks" aria-hidden="true"><span /><div class="track">{scale.marks.map((mark) => <span key={mark.label} style={{ left: `${mark.share * 100}%` }}>{mark.label}</span>)}</div><span /></div>
            </div>
            <p class="legend small soft"><span class="swatch busy" />works <span class="swatch wait" />waits (hatched) <span class="swatch bad" />stuck</p>
          </div>
        );
      }}
    </Loaded>
  );
}

interface Bar { state: string; from: number; length: number; since: string }

function barsOf(step: StepTime, start: number, end: number): Bar[] {
  return step.spans.filter((span) => span.since && SHOWN.has(span.state)).map((span) => {
    const from = (Date.parse(span.since ?? "") - start) / 1000;
    const until = ((span.until ? Date.parse(span.until) : end) - start) / 1000;
    return { state: span.state, from, length: Math.max(0, until - from), since: span.since ?? "" };
  });
}

function Lane({ step, bars, scale, onSelect }: { step: StepTime; bars: Bar[]; scale: Scale; onSelect: (name: string) => void }) {
  const works = bars.filter((bar) => !WAITS.has(bar.state)).reduce((sum, bar) => sum + bar.length, 0);
  const waits = bars.filter((bar) => WAITS.has(bar.state)).reduce((sum, bar) => sum + bar.length, 0);
  const told = [works > 0 ? `${durationText(works)} at work` : "", waits > 0 ? `${durationText(waits)} waiting` : ""].filter(Boolean).join(", ");
  return (
    <div class="lane" role="listitem">
      <button type="button" class="name" onClick={() => onSelect(step.name)} title={step.name}><span class={`sign ${toneOf(step.state)}`} aria-hidden="true">{signOf(step.state)}</span><span class="text">{step.name}</span><span class="unseen">, {step.state}, {told}</span></button>
      <div class="track" aria-hidden="true">
        {bars.map((bar, index) => {
          const left = scale.at(bar.from);
          const width = scale.at(bar.from + bar.length) - left;
          return <span key={index} class={`span ${TONES[bar.state] ?? toneOf(bar.state)} ${WAITS.has(bar.state) ? "waits" : ""}`} style={{ left: `${left * 100}%`, width: `max(3px, ${width * 100}%)` }} title={`${bar.state} ${durationText(bar.length)}, from ${exactText(bar.since)}`} />;
        })}
      </div>
      <span class="told small soft" aria-hidden="true">{told}</span>
    </div>
  );
}
