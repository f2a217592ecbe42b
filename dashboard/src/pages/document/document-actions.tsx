// What can be done to a document: verify, reject for a reason of the catalogue, replace by another, erase.
import { useId, useState } from "preact/hooks";
import { get, mayDo, post, session } from "../../api/client";
import type { DocumentItem, DocumentTypeView, DocumentView, ReasonView, VersionView } from "../../api/paper-shapes";
import type { Page } from "../../api/shapes";
import { useResource } from "../../live/resource";
import { Confirm } from "../../parts/dialog";
import { Erase } from "../../parts/erase-button";
import { tell } from "../../parts/toasts";
import { Reason } from "./version-list";

type Act = "verify" | "reject" | "supersede" | "erase";
interface ActsProps { document: DocumentView; type: DocumentTypeView | undefined; onChange: (document: DocumentView) => void }

export function Acts({ document, type, onChange }: ActsProps) {
  const [open, setOpen] = useState<Act | null>(null);
  const close = () => setOpen(null);
  const newest = document.versions[document.versions.length - 1];
  const acts = actsFor(document, newest, type);
  return (
    <>
      {acts.map(([act, label, look]) => <button key={act} type="button" class={`button ${look}`} onClick={() => setOpen(act)}>{label}</button>)}
      {open === "verify" && newest && <Verify document={document} version={newest} onChange={onChange} onClose={close} />}
      {open === "reject" && newest && <Reject document={document} version={newest} onChange={onChange} onClose={close} />}
      {open === "supersede" && <Supersede document={document} onChange={onChange} onClose={close} />}
      {open === "erase" && <Erase path={`/documents/${document.id}`} noun="document" onDone={() => void get<DocumentView>(`/documents/${document.id}`).then(onChange)} onClose={close} />}
    </>
  );
}

/** Buttons that are worth showing; groups and four eyes are for the operation to say. */
function actsFor(document: DocumentView, newest: VersionView | undefined, type: DocumentTypeView | undefined): [Act, string, string][] {
  const isOver = document.superseded_by !== "" || document.erased_at !== null;
  const who = session.value;
  const isInGroup = !type || type.verify_groups.length === 0 || type.verify_groups.some((each) => who?.groups.includes(each));
  const isSecond = !type?.four_eyes || newest?.received_by !== who?.principal;
  const mayDecide = !isOver && isInGroup && newest !== undefined;
  const found: [Act, string, string, boolean][] = [
    ["verify", "Verify", "primary", mayDecide && isSecond && newest.status === "pending" && mayDo("document.verify")],
    ["reject", newest?.status === "verified" ? "Take verification back" : "Reject", "danger", mayDecide && isSecond && (newest.status === "pending" || newest.status === "verified") && mayDo("document.reject")],
    ["supersede", "Replace by another", "", !isOver && isInGroup && mayDo("document.supersede")],
    ["erase", "Erase data", "danger", document.erased_at === null && mayDo("document.erase")],
  ];
  return found.filter((each) => each[3]).map(([act, label, look]) => [act, label, look]);
}

interface DecisionProps { document: DocumentView; version: VersionView; onChange: (document: DocumentView) => void; onClose: () => void }

function Verify({ document, version, onChange, onClose }: DecisionProps) {
  const run = async (note: string) => {
    onChange(await post<DocumentView>(`/documents/${document.id}/verify`, { version: version.number, note }));
    tell("Verified");
  };
  return (
    <Confirm title={`Verify version ${version.number}?`} act="Verify" onAct={run} onClose={onClose}>
      <p>It counts as evidence from now on{version.valid_to ? `, until ${version.valid_to}` : ""}. Whatever waited for it goes on. If a newer version came meanwhile, nothing is decided.</p>
    </Confirm>
  );
}

function Reject({ document, version, onChange, onClose }: DecisionProps) {
  const reasons = useResource((signal) => get<Page<ReasonView>>("/rejection-reasons", { signal }), []);
  const [code, setCode] = useState("");
  const id = useId();
  const chosen = reasons.data?.items.find((each) => each.code === code);
  const run = async (note: string) => {
    onChange(await post<DocumentView>(`/documents/${document.id}/reject`, { version: version.number, reason: code, note }));
    tell("Rejected");
  };
  return (
    <Confirm title={version.status === "verified" ? `Take the verification of version ${version.number} back?` : `Reject version ${version.number}?`} act="Reject" isDangerous isReady={code !== ""} onAct={run} onClose={onClose}>
      <div class="field">
        <label for={id}>Why<span class="needed" aria-hidden="true"> *</span></label>
        <select id={id} class="input" required value={code} onChange={(event) => setCode(event.currentTarget.value)}>
          <option value="">Choose a reason</option>
          {[...byCategory(reasons.data?.items ?? [])].map(([category, found]) => (
            <optgroup key={category} label={category.replaceAll("_", " ")}>{found.map((each) => <option key={each.code} value={each.code}>{each.code.replaceAll("_", " ").toLowerCase()}</option>)}</optgroup>
          ))}
        </select>
      </div>
      {chosen && <Reason reason={chosen} />}
    </Confirm>
  );
}

function byCategory(reasons: ReasonView[]): Map<string, ReasonView[]> {
  const found = new Map<string, ReasonView[]>();
  for (const each of reasons) found.set(each.category, [...(found.get(each.category) ?? []), each]);
  return found;
}

function Supersede({ document, onChange, onClose }: { document: DocumentView; onChange: (document: DocumentView) => void; onClose: () => void }) {
  const found = useResource((signal) => get<Page<DocumentItem>>("/documents", { query: { subject: document.subject, type: document.type }, signal }), [document.id]);
  const others = (found.data?.items ?? []).filter((each) => each.id !== document.id && each.status !== "superseded");
  const [by, setBy] = useState("");
  const id = useId();
  const run = async (note: string) => {
    onChange(await post<DocumentView>(`/documents/${document.id}/supersede`, { by, note }));
    tell("Replaced");
  };
  return (
    <Confirm title="Let another document take its place?" act="Replace" isDangerous isReady={by !== ""} onAct={run} onClose={onClose}>
      {found.data && others.length === 0 ? <p class="notice">There is no other {document.type} of {document.subject || "the same subject"}.</p> : (
        <div class="field">
          <label for={id}>The other document<span class="needed" aria-hidden="true"> *</span></label>
          <select id={id} class="input" value={by} onChange={(event) => setBy(event.currentTarget.value)}>
            <option value="">Choose one</option>
            {others.map((each) => <option key={each.id} value={each.id}>{each.id} ({each.status}{each.valid_to ? `, until ${each.valid_to}` : ""})</option>)}
          </select>
        </div>
      )}
    </Confirm>
  );
}
