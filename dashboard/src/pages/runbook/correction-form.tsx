// Proposing a correction of a call's data: the form of its verb, filled with what holds now.
import { useState } from "preact/hooks";
import { get, post, Problem } from "../../api/client";
import type { Json, Schema, VerbView } from "../../api/shapes";
import { answerOf, type Fault } from "../../forms/form-answer";
import { type Draft, draftOf } from "../../forms/form-draft";
import { FormFields } from "../../forms/form";
import { type Shape, shapeOf } from "../../forms/schema-shape";
import { useResource } from "../../live/resource";
import { Confirm } from "../../parts/dialog";
import { Loaded } from "../../parts/load-states";
import { tell } from "../../parts/toasts";
import type { CallView } from "./runbook-reader";

type Target = "input" | "result";
interface AmendProps { call: CallView; onDone: () => void; onClose: () => void }

export function Amend({ call, onDone, onClose }: AmendProps) {
  const verb = useResource((signal) => get<VerbView>(`/verbs/${encodeURIComponent(call.verb)}`, { query: { version: call.version }, signal }), [call.verb, call.version]);
  const [target, setTarget] = useState<Target>("input");
  const [drafts, setDrafts] = useState<{ [target in Target]?: Draft }>({});
  const [faults, setFaults] = useState<Fault[]>([]);
  const form = verb.data && formOf(call, verb.data, target);
  const change = (draft: Draft) => {
    setDrafts({ ...drafts, [target]: draft });
    if (form && faults.length > 0) setFaults(answerOf(form.shape, draft).faults);
  };
  const run = async (reason: string) => {
    if (!form) return;
    const answer = answerOf(form.shape, drafts[target] ?? form.draft);
    setFaults(answer.faults);
    if (answer.faults.length > 0) throw new Problem(0, "form.incomplete", "The correction is not complete", "See what is said beside the fields.");
    try {
      await post(`/calls/${call.id}/amend`, { data: answer.value ?? null, reason, target }, { etag: `"${call.sequence}"` });
    } catch (error) {
      if (error instanceof Problem) setFaults(error.errors);
      throw error;
    }
    tell("Proposed; it holds once somebody else approves it");
    onDone();
  };
  return (
    <Confirm title="Correct its data" act="Propose" reason="required" isReady={form !== undefined} isWide onAct={run} onClose={onClose}>
      <p>The correction holds once a second person has approved it. What was there before stays in the history.</p>
      {call.result !== null && call.result !== undefined && (
        <div class="choices row" role="radiogroup" aria-label="What is corrected">
          {(["input", "result"] as const).map((each) => <label key={each} class="check"><input type="radio" name="amended" checked={target === each} onChange={() => { setTarget(each); setFaults([]); }} /><span>The {each}</span></label>)}
        </div>
      )}
      <Loaded from={verb} lines={4}>{() => form && <FormFields key={target} form={`amend-${target}`} shape={form.shape} draft={drafts[target] ?? form.draft} faults={faults} onChange={change} />}</Loaded>
    </Confirm>
  );
}

function formOf(call: CallView, verb: VerbView, target: Target): { shape: Shape; draft: Draft } {
  const schema: Schema | null = target === "input" ? verb.input_schema : verb.output_schema;
  const value: Json | undefined = target === "input" ? call.args : call.result;
  const shape = holds(shapeOf(schema, "Data"), value);
  return { shape, draft: draftOf(shape, value) };
}

/** A form that would lose something of what there is gives way to JSON. */
function holds(shape: Shape, value: Json | undefined): Shape {
  const isKept = sorted(answerOf(shape, draftOf(shape, value)).value) === sorted(value);
  return isKept ? shape : { kind: "raw", title: shape.title || "Data", description: shape.description, isNullable: false, fallback: undefined };
}

function sorted(value: Json | undefined): string {
  return JSON.stringify(value, (_, each: Json) => (typeof each === "object" && each !== null && !Array.isArray(each) ? Object.fromEntries(Object.entries(each).sort(([one], [other]) => (one < other ? -1 : 1))) : each));
}
