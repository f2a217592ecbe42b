// A new document: its type and whom it is about. Its first version is handed in on its own page.
import { useId, useState } from "preact/hooks";
import { post } from "../../api/client";
import type { DocumentTypeView, DocumentView } from "../../api/paper-shapes";
import { Confirm } from "../../parts/dialog";
import { navigate } from "../../router";

export function CreateDocument({ types, subject: known, onClose }: { types: DocumentTypeView[]; subject: string; onClose: () => void }) {
  const [type, setType] = useState(types[0]?.name ?? "");
  const [subject, setSubject] = useState(known);
  const base = useId();
  const chosen = types.find((each) => each.name === type);
  const create = async () => {
    const made = await post<DocumentView>("/documents", { type, subject: subject.trim() });
    navigate(`/documents/${made.id}`);
  };
  return (
    <Confirm title="New document" act="Create" reason="none" isReady={type !== "" && subject.trim() !== ""} onAct={create} onClose={onClose}>
      <div class="field">
        <label for={`${base}-type`}>Type</label>
        <select id={`${base}-type`} class="input" value={type} onChange={(event) => setType(event.currentTarget.value)}>{types.map((each) => <option key={each.name} value={each.name}>{each.name}</option>)}</select>
        {chosen?.description && <span class="help">{chosen.description}</span>}
      </div>
      <div class="field">
        <label for={`${base}-subject`}>Subject<span class="needed" aria-hidden="true"> *</span></label>
        <input id={`${base}-subject`} class="input" required autocomplete="off" value={subject} onInput={(event) => setSubject(event.currentTarget.value)} />
        <span class="help">The id of whoever or whatever it is about. The file is handed in on the next page.</span>
      </div>
    </Confirm>
  );
}
