// The ladder of a task: what happens when, while nobody answers.
import type { Rung } from "../../api/process-shapes";
import { Badge } from "../../parts/state-badge";
import { now } from "../../parts/relative-time";
import { exactText } from "../../parts/time-text";
import { ladderOf } from "../../time/due-times";

export function Ladder({ ladder, since }: { ladder: Rung[]; since: string | null | undefined }) {
  if (ladder.length === 0) return null;
  const { rungs, next } = ladderOf(ladder, since, now.value);
  return (
    <div class="stack tight">
      <h3>While nobody answers</h3>
      <ol class="ladder">
        {rungs.map((rung, index) => (
          <li key={index} class={rung.is_done ? "done" : index === next ? "next" : ""} aria-current={index === next ? "step" : undefined}>
            <span>{rung.text}</span>
            <span title={rung.at ? exactText(rung.at) : ""}>
              <Badge tone={rung.is_done ? "good" : rung.clock.urgency === "overdue" ? "bad" : index === next ? "wait" : "quiet"} sign={rung.is_done ? "✓" : "◷"}>{rung.is_done ? "done" : rung.clock.text.replace(/^due /, "")}</Badge>
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}
