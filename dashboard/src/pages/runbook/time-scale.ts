// Time drawn to scale: where a moment lies on the line, straight or logarithmic, and which marks stand below it.
import { durationText } from "../../parts/time-text";

export type ScaleKind = "linear" | "log";
export interface Scale { at: (seconds: number) => number; marks: { share: number; label: string }[] }

const STEPS = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86_400, 2 * 86_400, 7 * 86_400, 14 * 86_400, 30 * 86_400, 90 * 86_400, 365 * 86_400];
const LOG_MARKS = [0, 1, 60, 3600, 86_400, 7 * 86_400, 30 * 86_400, 365 * 86_400];
const MAX_MARKS = 8;

/** From 0 to 1 over `length` seconds. The logarithmic one shows a second of work beside nine days of waiting. */
export function scaleOf(kind: ScaleKind, length: number): Scale {
  const whole = Math.max(length, 0.001);
  const bend = Math.log1p(whole);
  const at = (seconds: number) => {
    const inside = Math.min(whole, Math.max(0, seconds));
    return kind === "linear" ? inside / whole : Math.log1p(inside) / bend;
  };
  const places = kind === "linear" ? linearMarks(whole) : [...LOG_MARKS.filter((each) => each < whole), whole];
  return { at, marks: spaced(places.map((seconds) => ({ share: at(seconds), label: seconds === 0 ? "0" : durationText(seconds) }))) };
}

function linearMarks(whole: number): number[] {
  const step = whole < 1 ? whole / 2 : (STEPS.find((each) => whole / each <= MAX_MARKS) ?? Math.ceil(whole / MAX_MARKS / 31_536_000) * 31_536_000);
  return Array.from({ length: Math.floor(whole / step) + 1 }, (_, index) => index * step);
}

/** Marks that would stand on one another are left out; the last one stays. */
function spaced(marks: Scale["marks"]): Scale["marks"] {
  const kept: Scale["marks"] = [];
  for (const mark of marks) {
    while (kept.length > 1 && mark.share - (kept.at(-1)?.share ?? 0) < 0.09) kept.pop();
    if (kept.length === 0 || mark.share - (kept.at(-1)?.share ?? 0) >= 0.09) kept.push(mark);
  }
  return kept;
}

/** Logarithmic when a line to scale would hide most of what happened. */
export function suitable(spans: number[], length: number): ScaleKind {
  if (length < 60 || spans.length === 0) return "linear";
  const tiny = spans.filter((each) => each / length < 0.005).length;
  return tiny / spans.length > 0.3 ? "log" : "linear";
}
