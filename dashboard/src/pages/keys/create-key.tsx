// Making a key: whom it stands for and how far it reaches; its text is shown once and never again.
import { useId, useRef, useState } from "preact/hooks";
import { post, session } from "../../api/client";
import type { NewKey } from "../../api/process-shapes";
import { Confirm, Dialog } from "../../parts/dialog";
import { tell } from "../../parts/toasts";
import { bodyOf, EMPTY, KINDS, LIFETIMES, ROLES } from "./key-request";
import "./keys.css";

export function CreateKey({ onDone, onClose }: { onDone: () => void; onClose: () => void }) {
  const [wish, setWish] = useState(EMPTY);
  const [made, setMade] = useState<NewKey | null>(null);
  const isMade = useRef(false);
  const base = useId();
  const set = (change: Partial<typeof EMPTY>) => setWish({ ...wish, ...change });
  const run = async () => {
    setMade(await post<NewKey>("/keys", bodyOf(wish, Date.now())));
    isMade.current = true; // the question closes, and what it led to is shown instead
    onDone();
  };
  if (made) return <Made made={made} onClose={onClose} />;
  const text = (label: string, field: "name" | "principal" | "groups" | "verbs" | "operations", help = "", isRequired = false) => (
    <div class="field">
      <label for={`${base}-${field}`}>{label}{isRequired && <span class="needed" aria-hidden="true"> *</span>}</label>
      <input id={`${base}-${field}`} class="input" autocomplete="off" required={isRequired} value={wish[field]} onInput={(event) => set({ [field]: event.currentTarget.value })} />
      {help && <span class="help">{help}</span>}
    </div>
  );
  const mine = new Set(session.value?.roles ?? []);
  return (
    <Confirm title="Make a key" act="Make it" reason="none" onAct={run} onClose={() => !isMade.current && onClose()}>
      {text("Name", "name", "What it is for: “nightly import”.", true)}
      {text("Whom it stands for", "principal", "The name that the audit trail shows.", true)}
      <div class="field">
        <label for={`${base}-kind`}>Kind</label>
        <select id={`${base}-kind`} class="input" value={wish.kind} onChange={(event) => set({ kind: event.currentTarget.value })}>
          {KINDS.map((each) => <option key={each.value} value={each.value}>{each.label}</option>)}
        </select>
      </div>
      <fieldset class="field">
        <legend>Roles</legend>
        {ROLES.filter((each) => mine.has("admin") || mine.has(each.value)).map((each) => (
          <label key={each.value} class="check">
            <input type="checkbox" checked={wish.roles.includes(each.value)} onChange={(event) => set({ roles: event.currentTarget.checked ? [...wish.roles, each.value] : wish.roles.filter((role) => role !== each.value) })} />
            <span><strong>{each.value}</strong> <span class="soft">{each.says}</span></span>
          </label>
        ))}
      </fieldset>
      <div class="field">
        <label for={`${base}-lifetime`}>Ends</label>
        <select id={`${base}-lifetime`} class="input" value={wish.lifetime} onChange={(event) => set({ lifetime: event.currentTarget.value })}>
          {LIFETIMES.map((each) => <option key={each.value} value={each.value}>{each.label}</option>)}
        </select>
      </div>
      <details>
        <summary>Narrow it further</summary>
        <div class="stack key-more">
          {text("Groups", "groups", "Separated by commas: whose tasks it may answer.")}
          {text("Verbs", "verbs", "Patterns, separated by commas: kyc.*; left empty, all.")}
          {text("Operations", "operations", "Separated by commas: verb.call, call.read; left empty, all that the roles may.")}
        </div>
      </details>
    </Confirm>
  );
}

function Made({ made, onClose }: { made: NewKey; onClose: () => void }) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(made.text);
      tell("Copied");
    } catch {
      tell("Select the text and copy it by hand", { isBad: true });
    }
  };
  return (
    <Dialog title="Here is the key" onClose={onClose}>
      <p>Copy it now: <strong>it is never shown again.</strong> Only its fingerprint is kept.</p>
      <code class="key-text" data-testid="key-text" tabIndex={0}>{made.text}</code>
      <footer>
        <button type="button" class="button primary" onClick={() => void copy()}>Copy</button>
        <button type="button" class="button" onClick={onClose}>I have it</button>
      </footer>
    </Dialog>
  );
}
