// Dialogs: modal, closed by Escape, the focus goes back where it was. `Confirm` asks for a reason before an act.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Problem } from "../api/client";
import { asProblem } from "../live/resource";
import { ProblemBox } from "./load-states";

interface DialogProps { title: string; onClose: () => void; children: ComponentChildren; isWide?: boolean }

export function Dialog({ title, onClose, children, isWide = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const label = useId();
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog ref={element} class={isWide ? "wide" : ""} aria-labelledby={label} onClose={onClose}>
      <div class="inside">
        <h2 id={label}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

export interface Agreed { confirm?: string; phrase?: string }

export interface ConfirmProps {
  title: string;
  /** What will happen, in a sentence. */
  children?: ComponentChildren;
  /** The word on the button. */
  act: string;
  isDangerous?: boolean;
  reason?: "required" | "optional" | "none";
  /** Must be typed exactly before the act is possible. */
  phrase?: string;
  /** What is shown has been read, so that somebody can agree to it. */
  isReady?: boolean;
  isWide?: boolean;
  /** `agreed` is empty until the server asks for a confirmation; then it has the plan's hash and what was typed. */
  onAct: (reason: string, phrase: string, agreed: Agreed) => Promise<void>;
  onClose: () => void;
}

export function Confirm({ title, children, act, isDangerous = false, reason = "optional", phrase: known = "", isReady = true, isWide = false, onAct, onClose }: ConfirmProps) {
  const [text, setText] = useState("");
  const [typed, setTyped] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const [plan, setPlan] = useState({ hash: "", phrase: "" });
  const phrase = known || plan.phrase;
  const reasonId = useId();
  const phraseId = useId();
  const mayAct = isReady && !isBusy && (reason !== "required" || text.trim() !== "") && (!phrase || typed.trim() === phrase);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (!mayAct) return;
    setBusy(true);
    setProblem(undefined);
    try {
      await onAct(text.trim(), typed.trim(), plan.hash ? { confirm: plan.hash, phrase: typed.trim() } : {});
      onClose();
    } catch (error) {
      const told = asProblem(error);
      setProblem(told);
      // It is graver than the page knew: what the server asks for can be agreed to here.
      if (told.status === 423 && told.members["plan_hash"]) setPlan({ hash: String(told.members["plan_hash"]), phrase: String(told.members["phrase"] ?? "") });
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose} isWide={isWide}>
      <form class="stack" onSubmit={submit}>
        {children}
        {reason !== "none" && (
          <div class="field">
            <label for={reasonId}>Reason{reason === "required" ? <span class="needed" aria-hidden="true"> *</span> : <span class="soft"> (optional)</span>}</label>
            <textarea id={reasonId} class="input" rows={2} required={reason === "required"} value={text} onInput={(event) => setText(event.currentTarget.value)} />
            <span class="help">It is kept in the audit trail.</span>
          </div>
        )}
        {phrase && (
          <div class="field">
            <label for={phraseId}>Type <code>{phrase}</code> to {isDangerous ? "confirm" : "authorise"}</label>
            <input id={phraseId} class="input mono" autocomplete="off" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
          </div>
        )}
        {problem && <ProblemBox problem={problem} />}
        <footer>
          <button type="button" class="button" onClick={onClose}>Keep as it is</button>
          <button type="submit" class={`button primary ${isDangerous ? "danger" : ""}`} disabled={!mayAct}>{isBusy ? "Working…" : act}</button>
        </footer>
      </form>
    </Dialog>
  );
}
