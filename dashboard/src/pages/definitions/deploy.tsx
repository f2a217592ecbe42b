// Deploying a model: chosen or pasted, checked first, its findings shown on its diagram, deployed only then.
import { useMemo, useState } from "preact/hooks";
import { mayDo, post, Problem } from "../../api/client";
import type { DeployAnswer, Review } from "../../api/process-shapes";
import { Diagram } from "../../diagrams/diagram";
import { NO_MARKS } from "../../diagrams/marks";
import { asProblem } from "../../live/resource";
import { Dialog } from "../../parts/dialog";
import { ProblemBox } from "../../parts/states";
import { tell } from "../../parts/toasts";
import { navigate } from "../../routing";
import { elementsOf } from "../instance/elements";
import { findingMarks, Findings, Verdict } from "./findings";

const PROFILES = [
  { value: "hollow", label: "Hollow: flags only, as verbs are carried" },
  { value: "contract", label: "Contract: with the elements of the contract profile" },
  { value: "open", label: "Open: with call activities and named scripts" },
];

export function Deploy({ onClose }: { onClose: () => void }) {
  const [xml, setXml] = useState("");
  const [profile, setProfile] = useState("hollow");
  const [review, setReview] = useState<Review | null>(null);
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const [chosen, setChosen] = useState("");
  const change = (text: string) => {
    setXml(text);
    setReview(null);
    setProblem(undefined);
  };
  const read = async (file: File | undefined) => file && change(await file.text());
  const run = async (act: () => Promise<void>) => {
    setBusy(true);
    setProblem(undefined);
    try {
      await act();
    } catch (error) {
      const refused = asProblem(error);
      const found = refused.members["findings"] as Review["findings"] | undefined;
      if (found) setReview({ findings: found, proofs: (refused.members["proofs"] as Review["proofs"] | undefined) ?? [] });
      setProblem(found ? new Problem(refused.status, refused.code, refused.title, refused.message, refused.hint) : refused);
    }
    setBusy(false);
  };
  const check = () => run(async () => setReview(await post<Review>("/processes/check", { xml, profile })));
  const deploy = () => run(async () => {
    const done = await post<DeployAnswer>("/processes", { xml, profile });
    const first = done.deployments[0];
    tell(done.deployments.map((each) => (each.is_new ? `${each.process}, version ${each.version}` : `${each.process} was there already, version ${each.version}`)).join("; ") || "Nothing to deploy");
    onClose();
    if (first) navigate(`/definitions/processes/${encodeURIComponent(first.process)}?version=${first.version}`);
  });
  const hasErrors = review?.findings.some((each) => each.severity === "error") ?? false;
  return (
    <Dialog title="Deploy a model" onClose={onClose} isWide>
      <div class="field">
        <label for="deploy-file">BPMN file</label>
        <input id="deploy-file" class="input" type="file" accept=".bpmn,.xml,application/xml" onChange={(event) => void read(event.currentTarget.files?.[0])} />
      </div>
      <div class="field">
        <label for="deploy-xml">or its text</label>
        <textarea id="deploy-xml" class="input mono" rows={4} spellcheck={false} value={xml} onInput={(event) => change(event.currentTarget.value)} />
      </div>
      <div class="field">
        <label for="deploy-profile">Profile</label>
        <select id="deploy-profile" class="input" value={profile} onChange={(event) => { setProfile(event.currentTarget.value); setReview(null); }}>
          {PROFILES.map((each) => <option key={each.value} value={each.value}>{each.label}</option>)}
        </select>
      </div>
      {problem && <ProblemBox problem={problem} />}
      {review && <Reviewed xml={xml} review={review} chosen={chosen} onElement={setChosen} />}
      <footer>
        <button type="button" class="button" onClick={onClose}>Close</button>
        <button type="button" class={`button ${review && !hasErrors ? "" : "primary"}`} disabled={isBusy || xml.trim() === ""} onClick={() => void check()}>{isBusy && !review ? "Checking…" : "Check"}</button>
        {mayDo("process.deploy") && <button type="button" class="button primary" disabled={isBusy || review === null || hasErrors} onClick={() => void deploy()}>Deploy</button>}
      </footer>
    </Dialog>
  );
}

function Reviewed({ xml, review, chosen, onElement }: { xml: string; review: Review; chosen: string; onElement: (element: string) => void }) {
  const names = useMemo(() => new Map(elementsOf(xml).map((each) => [each.id, each.name])), [xml]);
  const name = (element: string) => names.get(element) ?? element;
  const marks = useMemo(() => ({ ...NO_MARKS, findings: findingMarks(review.findings, review.proofs) }), [review]);
  return (
    <div class="stack" role="status">
      <strong>{review.findings.length === 0 ? "Lint finds nothing." : `Lint finds ${review.findings.length}.`}</strong>
      <Findings findings={review.findings} name={name} onElement={onElement} />
      {review.proofs.map((proof) => <div key={proof.process} class="stack tight"><h3>{proof.process}</h3><Verdict proof={proof} /><Findings findings={proof.findings} name={name} onElement={onElement} /></div>)}
      {names.size > 0 && (xml.includes("BPMNDiagram") ? <Diagram xml={xml} marks={marks} label="The model" selected={chosen} onSelect={onElement} /> : <p class="soft">The file has no diagram: one is drawn when it is deployed.</p>)}
    </div>
  );
}
