// Through the history of an instance: a slider with one position for each record, and buttons for one step.
import type { Position } from "../../history/slider-positions";
import { exactText } from "../../parts/time-text";

interface SliderProps { positions: Position[]; index: number; isNow: boolean; onIndex: (index: number) => void; onNow: () => void }

export function HistorySlider({ positions, index, isNow, onIndex, onNow }: SliderProps) {
  const last = positions.length - 1;
  const here = positions[index];
  const said = here ? `${index + 1} of ${positions.length}: ${here.text}${here.at ? `, ${exactText(here.at)}` : ""}` : "";
  const stuck = positions.map((each, at) => ({ each, at })).filter(({ each }) => each.isIncident).slice(0, 200);
  return (
    <div class="slider" role="group" aria-label="History">
      <button type="button" class="button tight" disabled={index <= 0} onClick={() => onIndex(0)} aria-label="To the beginning">|◀</button>
      <button type="button" class="button tight" disabled={index <= 0} onClick={() => onIndex(index - 1)} aria-label="One record back">◀</button>
      <div class="slider-track">
        <input
          type="range" min={0} max={Math.max(0, last)} value={Math.max(0, index)} aria-label="Record" aria-valuetext={said} disabled={last < 1}
          onInput={(event) => onIndex(Number(event.currentTarget.value))}
        />
        {last > 0 && stuck.map(({ at }) => <span key={at} class="slider-stuck" style={{ left: `${(at / last) * 100}%` }} title="Something got stuck here" />)}
      </div>
      <button type="button" class="button tight" disabled={index >= last} onClick={() => onIndex(index + 1)} aria-label="One record on">▶</button>
      <button type="button" class={`button tight ${isNow ? "" : "primary"}`} aria-pressed={isNow} onClick={onNow}>Now</button>
      <p class="slider-said" data-testid="history-position">
        {here ? <><span class="number">{index + 1} of {positions.length}</span> · {here.text}{here.at && <span class="soft"> · {exactText(here.at)}</span>}</> : <span class="soft">Reading the history…</span>}
      </p>
    </div>
  );
}
