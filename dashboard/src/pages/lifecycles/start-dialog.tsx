// Starting a lifecycle for a subject, or finding the one that is active for it.
import { useId, useState } from "preact/hooks";
import { post, Problem } from "../../api/client";
import type { LifecycleBegun } from "../../api/paper-shapes";
import { type Agreed, Confirm } from "../../parts/dialog";
import { tell } from "../../parts/toasts";
import { navigate } from "../../router";

export function StartLifecycle({ lifecycle, onClose }: { lifecycle: string; onClose: () => void }) {
  const [subject, setSubject] = useState("");
  const [context, setContext] = useState("");
  const base = useId();
  const start = async (_: string, __: string, agreed: Agreed) => {
    const begun = await post<LifecycleBegun>("/lifecycles", { lifecycle, subject: subject.trim(), context: contextOf(context), ...agreed });
    tell(begun.is_new ? "Started" : "It was active already");
    navigate(`/lifecycles/${begun.instance.id}`);
  };
  return (
    <Confirm title={`Start ${lifecycle}`} act="Start" reason="none" isReady={subject.trim() !== ""} onAct={start} onClose={onClose}>
      <div class="field">
        <label for={`${base}-subject`}>Subject<span class="needed" aria-hidden="true"> *</span></label>
        <input id={`${base}-subject`} class="input" required autocomplete="off" value={subject} onInput={(event) => setSubject(event.currentTarget.value)} />
        <span class="help">The id of the client or the case. A subject has one active instance; if there is one, it is opened.</span>
      </div>
      <div class="field">
        <label for={`${base}-context`}>Context<span class="soft"> (optional)</span></label>
        <textarea id={`${base}-context`} class="input mono" rows={3} placeholder='{"case": "K-1"}' value={context} onInput={(event) => setContext(event.currentTarget.value)} />
        <span class="help">JSON: values that the definition calls by name.</span>
      </div>
    </Confirm>
  );
}

function contextOf(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem(0, "form.json", "The context is no JSON", "Expected a JSON object, such as {\"case\": \"K-1\"}.");
  }
}
