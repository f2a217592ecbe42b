// One step being filled in: its name, its form, and how it runs.
import { useEffect, useId, useState } from "preact/hooks";
import type { Fault } from "../../forms/form-answer";
import { FormFields } from "../../forms/form";
import { Loading } from "../../parts/load-states";
import { type Call, draftFor, nameFault } from "./composed-calls";
import type { KnownVerb } from "./use-verbs";

interface StepCardProps {
  call: Call; number: number; count: number; verb: KnownVerb | undefined; names: string[]; references: string[]; faults: Fault[]; told: string[];
  onChange: (call: Call, mark: string) => void; onRename: (to: string) => void; onMove: (step: number) => void; onRemove: () => void;
}

const NONE: Fault[] = [];

export function StepCard({ call, number, count, verb, names, references, faults, told, onChange, onRename, onMove, onRemove }: StepCardProps) {
  const [isTouched, setTouched] = useState(false);
  const [name, setName] = useState(call.name);
  const id = useId();
  const others = names.filter((each) => each !== call.name);
  const wrong = nameFault(name, others);
  useEffect(() => setName(call.name), [call.name]);
  const rename = (text: string) => {
    setName(text);
    if (!nameFault(text, others)) onRename(text);
  };
  return (
    <section class="card step-card" aria-labelledby={`${id}-head`} data-verb={call.verb}>
      <header>
        <h3 id={`${id}-head`}>{number}. {call.verb}</h3>
        <span class="row push">
          <button type="button" class="button tight quiet" aria-label={`Move step ${number} up`} disabled={number === 1} onClick={() => onMove(-1)}>↑</button>
          <button type="button" class="button tight quiet" aria-label={`Move step ${number} down`} disabled={number === count} onClick={() => onMove(1)}>↓</button>
          <button type="button" class="button tight quiet" aria-label={`Remove step ${number}`} onClick={onRemove}>Remove</button>
        </span>
      </header>
      <div class="inside stack" onFocusOut={() => setTouched(true)}>
        {verb?.view.description && <p class="soft">{verb.view.description}</p>}
        {told.length > 0 && <div class="problem small">{told.map((each) => <span key={each}>{each}</span>)}</div>}
        {verb ? <FormFields form={`step-${call.key}`} shape={verb.shape} draft={draftFor(call, verb.shape)} faults={isTouched ? faults : NONE} references={references} onChange={(draft, place) => onChange({ ...call, draft }, place && `${call.key} ${place}`)} /> : <Loading lines={3} />}
        <details class="how">
          <summary>Name and how it runs</summary>
          <div class="stack">
            <div class="field">
              <label for={`${id}-name`}>Name of the step</label>
              <input id={`${id}-name`} class="input mono" value={name} aria-invalid={wrong !== ""} onInput={(event) => rename(event.currentTarget.value)} />
              {wrong && <span class="fault">{wrong}</span>}
            </div>
            {others.length > 0 && (
              <fieldset class="field">
                <legend>Only after</legend>
                {others.map((each) => (
                  <label key={each} class="check"><input type="checkbox" checked={call.after.includes(each)} onChange={(event) => onChange({ ...call, after: event.currentTarget.checked ? [...call.after, each] : call.after.filter((one) => one !== each) }, "")} /> {each}</label>
                ))}
              </fieldset>
            )}
            <div class="field">
              <label for={`${id}-failure`}>When it fails</label>
              <select id={`${id}-failure`} class="input" value={call.on_failure} onChange={(event) => onChange({ ...call, on_failure: event.currentTarget.value }, "")}>
                <option value="stop">nothing new begins</option><option value="continue">everything else goes on</option><option value="ask">a person decides</option>
              </select>
            </div>
            <div class="field">
              <label for={`${id}-gate`}>Someone of this group must agree first</label>
              <input id={`${id}-gate`} class="input" value={call.gate} placeholder="no gate" onInput={(event) => onChange({ ...call, gate: event.currentTarget.value.trim() }, `${call.key} gate`)} />
            </div>
          </div>
        </details>
      </div>
    </section>
  );
}
