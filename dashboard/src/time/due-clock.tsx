// The clock of something due: how long is left, in words and as a bar.
import { Badge, type Tone } from "../parts/state-badge";
import { now } from "../parts/relative-time";
import { exactText } from "../parts/time-text";
import { clockOf, type Urgency } from "./due-times";
import "./clock.css";

const TONES: Record<Urgency, readonly [Tone, string]> = {
  none: ["quiet", ""], calm: ["busy", "◷"], soon: ["wait", "◕"], overdue: ["bad", "!"], done: ["good", "✓"],
};

export function DueClock({ dueAt, since }: { dueAt: string | null | undefined; since: string | null | undefined }) {
  const clock = clockOf(dueAt, since, now.value);
  if (clock.urgency === "none") return <span class="soft">no due date</span>;
  const [tone, sign] = TONES[clock.urgency];
  return (
    <span class={`clock ${clock.urgency}`} title={dueAt ? `Due ${exactText(dueAt)}` : ""}>
      <Badge tone={tone} sign={sign}>{clock.text}</Badge>
      {clock.gone !== null && <span class="clock-bar" aria-hidden="true"><span style={{ width: `${Math.round(clock.gone * 100)}%` }} /></span>}
    </span>
  );
}
