// Deploying a model: chosen or pasted, checked first, its findings shown on its diagram, deployed only then.
import { useMemo, useState } from "preact/hooks";
import { mayDo, post, Problem, session } from "../../api/client";
import type { DeployAnswer, Review } from "../../api/process-shapes";
import type { Tier } from "../../api/shapes";
import { Diagram } from "../../diagrams/diagram";
import { NO_MARKS } from "../../diagrams/marks";
import { asProblem } from "../../live/resource";
import { Confirm, Dialog } from "../../parts/dialog";
import { ProblemBox } from "../../parts/load-states";
import { tell } from "../../parts/toasts";
import { navigate } from "../../router";
import { elementsOf } from "../instance/model-elements";
import { TierBadge } from "../runbook/start-button";
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
  const [agreement, setAgreement] = useState<Agreement | null>(null);
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
    try {
      deployed(await post<DeployAnswer>("/processes", { xml, profile }));
    } catch (error) {
      const asked = agreementOf(asProblem(error));
      if (asked === null) throw error;
      setAgreement(asked);
    }
  });
  const deployed = (done: DeployAnswer) => {
    const first = done.deployments[0];
    tell(done.deployments.map((each) => (each.is_new ? `${each.process}, version ${each.version}` : `${each.process} was there already, version ${each.version}`)).join("; ") || "Nothing to deploy");
    onClose();
    if (first) navigate(`/definitions/processes/${encodeURIComponent(first.process)}?version=${first.version}`);
  };
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
      {agreement && (
        <Confirm title="Deploy what may begin with nobody to ask?" act="Deploy" reason="none" phrase={agreement.phrase} onAct={async (_, phrase) => deployed(await post<DeployAnswer>("/processes", { xml, profile, confirm: agreement.hash, phrase }))} onClose={() => setAgreement(null)}>
          <p class="row"><TierBadge tier={agreement.tier} /></p>
          <ul>{agreement.sentences.map((each) => <li key={each}>{each}</li>)}</ul>
        </Confirm>
      )}
    </Dialog>
  );
}

interface Agreement { hash: string; phrase: string; tier: Tier; sentences: string[] }

/** What a person has to agree to before it is deployed; nothing where that is not why it was refused. */
function agreementOf(problem: Problem): Agreement | null {
  const { plan_hash: hash, phrase, tier, sentences } = problem.members;
  if (problem.code !== "confirmation.required" || !mayAgree(problem)) return null;
  return { hash: String(hash), phrase: String(phrase ?? ""), tier: String(tier) as Tier, sentences: (sentences as string[] | undefined) ?? [] };
}

function mayAgree(problem: Problem): boolean {
  return problem.members["plan_hash"] !== undefined && session.value?.kind === "person";
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
