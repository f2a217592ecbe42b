// What lint and a proof say of a model: listed, and marked on its diagram.
import type { Finding, Proof } from "../../api/process-shapes";
import type { FindingMark } from "../../diagrams/marks";
import { Badge, type Tone } from "../../parts/state-badge";

const TONES: Record<string, readonly [Tone, string]> = { error: ["bad", "✕"], warning: ["wait", "!"], info: ["quiet", "i"] };
const VERDICTS: Record<Proof["verdict"], readonly [Tone, string, string]> = {
  proved: ["good", "✓", "Proved: no deadlock, no lost token, no dead task, no outcome that nobody handles."],
  refuted: ["bad", "✕", "Refuted: there is a way it goes wrong."],
  undecided: ["wait", "?", "Undecided: the search reached its bound."],
};

export function findingMarks(findings: readonly Finding[], proofs: readonly Proof[]): FindingMark[] {
  return [...findings, ...proofs.flatMap((proof) => proof.findings)]
    .filter((each) => each.element && each.severity !== "info")
    .map((each) => ({ element: each.element ?? "", code: each.code, severity: each.severity, fact: each.fact }));
}

export function Verdict({ proof }: { proof: Proof | null | undefined }) {
  if (!proof) return <p class="soft">There is no proof: it is made once nothing is wrong with the model.</p>;
  const [tone, sign, text] = VERDICTS[proof.verdict];
  return (
    <p class="row">
      <Badge tone={tone} sign={sign}>{proof.verdict}</Badge><span>{text}</span>
      {proof.bound && <span class="soft small">{proof.bound}</span>}
      {proof.states ? <span class="soft small number">{proof.states.toLocaleString("en")} states looked at</span> : null}
    </p>
  );
}

export function Findings({ findings, name, onElement }: { findings: readonly Finding[]; name: (element: string) => string; onElement?: (element: string) => void }) {
  if (findings.length === 0) return null;
  const sorted = [...findings].sort((one, other) => rank(one.severity) - rank(other.severity));
  return (
    <ul class="plain-list findings">
      {sorted.map((each, index) => {
        const [tone, sign] = TONES[each.severity] ?? ["quiet", "•"];
        return (
          <li key={index} class="stack tight">
            <span class="row">
              <Badge tone={tone} sign={sign}>{each.severity}</Badge><code>{each.code}</code>
              {each.element && (onElement ? <button type="button" class="button tight quiet" onClick={() => onElement(each.element ?? "")}>{name(each.element)}</button> : <span>{name(each.element)}</span>)}
              {each.line ? <span class="soft small">line {each.line}</span> : null}
            </span>
            <span>{each.fact}</span>
            {each.hint && <span class="soft">{each.hint}</span>}
            {each.steps && each.steps.length > 0 && <details><summary>How it comes about, in {each.steps.length} steps</summary><ol>{each.steps.map((step, at) => <li key={at}>{step}</li>)}</ol></details>}
          </li>
        );
      })}
    </ul>
  );
}

function rank(severity: string): number {
  return severity === "error" ? 0 : severity === "warning" ? 1 : 2;
}
