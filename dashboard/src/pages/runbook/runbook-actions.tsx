// What can be done with a whole runbook, as far as its state and the session allow.
import { useState } from "preact/hooks";
import { address, mayDo, post } from "../../api/client";
import { Confirm } from "../../parts/dialog";
import { Erase } from "../../parts/erase-button";
import { tell } from "../../parts/toasts";
import { Link } from "../../router";
import { Amend } from "./correction-form";
import { CancelCase } from "./cancel-case";
import { ENDED, type Shown } from "./runbook-reader";

type Act = "cancel" | "cancel-case" | "compensate" | "seal" | "amend" | "erase";

export function RunbookActs({ shown, onDone }: { shown: Shown; onDone: () => void }) {
  const [asked, setAsked] = useState<Act>();
  const [takesBack, setTakesBack] = useState(false);
  const { view, kind, base, call } = shown;
  const isEnded = ENDED.has(view.state);
  const isDraft = view.state === "draft";
  const isRunbook = kind === "runbook" && !isDraft;
  const act = (path: string, done: string, body: (reason: string) => unknown) => async (reason: string) => {
    await post(`${base}/${path}`, body(reason));
    tell(done);
    onDone();
  };
  const close = () => setAsked(undefined);
  return (
    <>
      {isRunbook && !view.ended_at && mayDo("runbook.extend") && <Link class="button" to={`/compose?extend=${view.id}`}>Extend</Link>}
      {isRunbook && !view.is_sealed && !isEnded && mayDo("runbook.seal") && <button type="button" class="button" onClick={() => setAsked("seal")}>Seal</button>}
      {isRunbook && isEnded && mayDo("runbook.compensate") && <button type="button" class="button" onClick={() => setAsked("compensate")}>Compensate</button>}
      {!isEnded && mayDo(kind === "call" ? "call.cancel" : "runbook.cancel") && <button type="button" class="button danger" onClick={() => setAsked("cancel")}>{isDraft ? "Discard draft" : "Cancel"}</button>}
      {isRunbook && view.case && mayDo("case.cancel") && <button type="button" class="button danger" onClick={() => setAsked("cancel-case")}>Cancel case</button>}
      {call && !call.erased_at && mayDo("call.amend") && <button type="button" class="button" onClick={() => setAsked("amend")}>Correct data</button>}
      {call && isEnded && !call.erased_at && mayDo("call.erase") && <button type="button" class="button danger" onClick={() => setAsked("erase")}>Erase data</button>}
      {!isDraft && mayDo("audit.export") && (
        <details class="menu">
          <summary class="button">Export</summary>
          <div class="card">
            <a href={address(`/runbooks/${view.id}/export`, { format: "html" })} download>Document for people (HTML)</a>
            <a href={address(`/runbooks/${view.id}/export`, { format: "json" })} download>Document for machines (JSON)</a>
          </div>
        </details>
      )}
      {asked === "cancel-case" && <CancelCase name={view.case} onDone={onDone} onClose={close} />}
      {asked === "amend" && call && <Amend call={call} onDone={onDone} onClose={close} />}
      {asked === "erase" && <Erase path={base} noun="call" onDone={onDone} onClose={close} />}
      {asked === "seal" && <Confirm title="Seal the runbook" act="Seal" reason="none" onAct={act("seal", "Sealed", () => ({}))} onClose={close}><p>No more steps can be added; it completes when those there are have ended.</p></Confirm>}
      {asked === "compensate" && <Confirm title="Compensate the runbook" act="Compensate" reason="required" isDangerous onAct={act("compensate", "Compensation has begun", (reason) => ({ reason }))} onClose={close}><p>What its steps did is taken back, the last first, as far as their verbs say how.</p></Confirm>}
      {asked === "cancel" && (
        <Confirm title={isDraft ? "Discard the draft" : "Cancel the runbook"} act={isDraft ? "Discard" : "Cancel it"} reason="required" isDangerous onAct={act("cancel", "Cancelled", (reason) => (kind === "call" ? { reason } : { reason, compensate: takesBack }))} onClose={close}>
          <p>{isDraft ? "The draft ends; its history stays." : "It stops, with whatever its steps wait for. What was done stays done unless you take it back."}</p>
          {isRunbook && <label class="check"><input type="checkbox" checked={takesBack} onChange={(event) => setTakesBack(event.currentTarget.checked)} /> Take back what was done (compensate)</label>}
        </Confirm>
      )}
    </>
  );
}
