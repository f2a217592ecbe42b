// Ending by hand what an incident stopped: with a result, or with the code of an error.
import { useState } from "preact/hooks";
import { Problem } from "../../api/client";
import type { Schema } from "../../api/shapes";
import { answerOf, type Fault } from "../../forms/form-answer";
import { type Draft, draftOf } from "../../forms/form-draft";
import { FormFields } from "../../forms/form";
import { shapeOf } from "../../forms/schema-shape";
import { Confirm } from "../../parts/dialog";

interface ResolveProps {
  /** What is stuck, in words. */
  what: string;
  /** The schema of the result, where the verb declares one. */
  schema?: Schema | null;
  /** Whether an error is a code that the process may catch, or a text. */
  errorLabel: string;
  onResolve: (body: { data?: unknown; error?: string; reason: string }) => Promise<void>;
  onClose: () => void;
}

export function Resolve({ what, schema = null, errorLabel, onResolve, onClose }: ResolveProps) {
  const [shape] = useState(() => shapeOf(schema ?? {}, "Result"));
  const [draft, setDraft] = useState<Draft>(() => draftOf(shape));
  const [faults, setFaults] = useState<Fault[]>([]);
  const [way, setWay] = useState<"result" | "error">("result");
  const [code, setCode] = useState("");
  const run = async (reason: string) => {
    if (way === "error") return onResolve({ error: code.trim(), reason });
    const answer = answerOf(shape, draft, shape.kind !== "raw");
    setFaults(answer.faults);
    if (answer.faults.length > 0) throw new Problem(0, "form.incomplete", "The result is not complete", "See what is said beside the fields.");
    try {
      return await onResolve({ data: answer.value ?? null, reason });
    } catch (error) {
      if (error instanceof Problem && error.errors.length > 0) setFaults(error.errors);
      throw error;
    }
  };
  return (
    <Confirm title="Resolve by hand" act="Resolve" reason="required" onAct={run} onClose={onClose}>
      <p>{what} ends as you say, without running again.</p>
      <div class="choices row" role="radiogroup" aria-label="How it ends">
        <label class="check"><input type="radio" name="way" checked={way === "result"} onChange={() => setWay("result")} /><span>With a result</span></label>
        <label class="check"><input type="radio" name="way" checked={way === "error"} onChange={() => setWay("error")} /><span>With an error</span></label>
      </div>
      {way === "result" ? <FormFields form="resolve" shape={shape} draft={draft} faults={faults} onChange={setDraft} /> : (
        <div class="field">
          <label for="resolve-code">{errorLabel}</label>
          <input id="resolve-code" class="input" value={code} required onInput={(event) => setCode(event.currentTarget.value)} />
        </div>
      )}
    </Confirm>
  );
}
