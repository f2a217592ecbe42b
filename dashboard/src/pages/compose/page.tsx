// Compose: choose verbs, fill in forms, see the sentences and the plan, keep it as a draft, run it.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, getWithTag, mayDo, post, type Problem, put } from "../../api/client";
import type { RunbookView } from "../../api/shapes";
import { asProblem } from "../../live/resource";
import { faultsOf, initialOf } from "../../parts/form/model";
import { PageHead } from "../../parts/page-head";
import { Blank, Loading, ProblemBox } from "../../parts/states";
import { tell } from "../../parts/toasts";
import { Link, navigate, query } from "../../routing";
import { PlanCard } from "../runbook/plan-card";
import type { DraftView } from "../runbook/reading";
import { StartButton } from "../runbook/starting";
import { ExtendButton } from "./extending";
import { asJson, type Call, freshName, fromDocument, moved, pathsOf, programOf, renamed, stepOf } from "./model";
import { VerbPicker } from "./picker";
import { StepCard } from "./step-card";
import { usePlan } from "./use-plan";
import { useVerbs } from "./use-verbs";
import "./compose.css";
import "../runbook/runbook.css";

export default function ComposePage() {
  const draft = query.value.get("draft") ?? "";
  const extended = query.value.get("extend") ?? "";
  const [start, setStart] = useState<Start | Problem>();
  useEffect(() => {
    setStart(undefined);
    begin(draft, extended).then(setStart, (error: unknown) => setStart(asProblem(error)));
  }, [draft, extended]);
  if (start === undefined) return <Loading lines={8} />;
  if (!("calls" in start)) return <ProblemBox problem={start} />;
  return <Composer key={`${draft}/${extended}`} start={start} extended={extended} />;
}

interface Start { calls: Call[]; program: string | null; case: string; draft: string; etag: string; runbook: RunbookView | null }
const EMPTY: Start = { calls: [], program: null, case: "", draft: "", etag: "", runbook: null };

async function begin(draft: string, extended: string): Promise<Start> {
  if (extended) return { ...EMPTY, runbook: await get<RunbookView>(`/runbooks/${encodeURIComponent(extended)}`) };
  const verb = query.peek().get("verb");
  if (!draft) return verb ? { ...EMPTY, calls: [{ key: 0, verb, name: freshName(verb, []), args: {}, after: [], on_failure: "stop", gate: "", section: "" }] } : EMPTY;
  const { data, etag } = await getWithTag<DraftView>(`/drafts/${encodeURIComponent(draft)}`);
  const calls = fromDocument(data.document);
  return { ...EMPTY, calls: calls ?? [], program: calls ? null : data.program, case: data.case, draft, etag };
}

function Composer({ start, extended }: { start: Start; extended: string }) {
  const [calls, setCalls] = useState<Call[]>(start.calls);
  const [program, setProgram] = useState<string | null>(start.program);
  const [caseName, setCase] = useState(start.case);
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const saved = useRef({ draft: start.draft, etag: start.etag });
  const keys = useRef(start.calls.length + 1);
  const verbs = useVerbs();
  useEffect(() => calls.forEach((call) => void verbs.need(call.verb)), [calls]);

  const before = start.runbook?.steps.map((step) => step.name) ?? [];
  const names = calls.map((call) => call.name);
  const json = asJson(calls, (verb) => verbs.find(verb)?.field);
  const content = program !== null ? { program } : { calls: json };
  const faults = calls.map((call) => {
    const verb = verbs.find(call.verb);
    return verb ? faultsOf(verb.field, call.args) : [];
  });
  const isEmpty = program !== null ? program.trim() === "" : calls.length === 0;
  const isFilled = faults.every((each) => each.length === 0);
  const planned = usePlan(content, !isEmpty && !extended && (program !== null || isFilled));

  const pick = async (verb: string) => {
    const known = await verbs.need(verb);
    if (!known) return;
    const call: Call = { key: keys.current++, verb: known.view.name, name: "", args: initialOf(known.field) ?? {}, after: [], on_failure: "stop", gate: "", section: "" };
    setCalls((now) => [...now, { ...call, name: freshName(verb, [...before, ...now.map((each) => each.name)]) }]);
    requestAnimationFrame(() => {
      const cards = document.querySelectorAll(".step-card");
      cards[cards.length - 1]?.querySelector<HTMLElement>("input, select, textarea")?.focus();
    });
  };
  const attempt = async (act: () => Promise<void>) => {
    setBusy(true);
    setProblem(undefined);
    try {
      await act();
    } catch (error) {
      setProblem(asProblem(error));
    }
    setBusy(false);
  };
  const save = async () => {
    const body = { ...content, case: caseName };
    if (saved.current.draft) {
      const { data, etag } = await put<DraftView>(`/drafts/${saved.current.draft}`, body, { etag: saved.current.etag });
      saved.current = { draft: data.id, etag };
    } else {
      const data = await post<DraftView>("/drafts", body);
      saved.current = { draft: data.id, etag: `"${data.sequence}"` };
      history.replaceState(null, "", `/compose?draft=${data.id}`);
    }
  };
  const run = async (confirm: string, phrase: string) => {
    if (!saved.current.draft) return post<RunbookView>("/runbooks", { ...content, case: caseName, confirm, phrase });
    await save();
    return post<RunbookView>(`/drafts/${saved.current.draft}/start`, { confirm, phrase });
  };
  const told = (number: number) => (planned.problem?.errors ?? []).filter((each) => stepOf(each.path) === number).map((each) => [each.message, each.hint].filter(Boolean).join(" "));

  return (
    <>
      <PageHead
        title={extended ? "Extend a runbook" : saved.current.draft ? "Edit a draft" : "Compose a runbook"}
        actions={
          <>
            {!extended && mayDo("runbook.draft") && <button type="button" class="button" disabled={isBusy || isEmpty} onClick={() => void attempt(async () => { await save(); tell("Kept as a draft"); navigate(`/runbooks/${saved.current.draft}`); })}>Save draft</button>}
            {!extended && mayDo("runbook.start") && planned.plan && <StartButton plan={planned.plan} isDisabled={!planned.isCurrent} start={run} onStarted={(view) => { tell("It runs"); navigate(`/runbooks/${view.id}`); }} />}
            {extended && mayDo("runbook.extend") && <ExtendButton id={extended} body={content} isDisabled={isEmpty || !isFilled} onProblem={setProblem} onExtended={() => { tell("Steps were added"); navigate(`/runbooks/${extended}`); }} />}
          </>
        }
      >
        {extended ? <p class="soft">Steps come behind those of <Link to={`/runbooks/${extended}`}>{before.length} steps there are</Link>, and may use their results.</p> : <p class="soft">Choose verbs, fill them in, look at the plan. Nothing happens before you run it.</p>}
      </PageHead>
      {problem && <ProblemBox problem={problem} />}
      {verbs.problem && <ProblemBox problem={verbs.problem} />}
      <div class="compose">
        {program === null && <VerbPicker onPick={(verb) => void pick(verb)} />}
        <div class="stack">
          {!extended && (
            <div class="row">
              <label class="row">Case <input class="input fit" value={caseName} placeholder="none" disabled={Boolean(start.draft)} onInput={(event) => setCase(event.currentTarget.value)} /></label>
              <div class="chips push" role="group" aria-label="Written as">
                <button type="button" class="chip" aria-pressed={program === null} disabled={program !== null && calls.length === 0 && program.trim() !== ""} onClick={() => setProgram(null)}>Forms</button>
                <button type="button" class="chip" aria-pressed={program !== null} onClick={() => setProgram(program ?? programOf(json))}>Text</button>
              </div>
            </div>
          )}
          {program !== null && (
            <section class="card"><div class="inside field">
              <label for="program">Program</label>
              <textarea id="program" class="input mono" rows={18} spellcheck={false} value={program} onInput={(event) => setProgram(event.currentTarget.value)} />
              <span class="help">Calls in either form of the language, as in LET case = EXEC kyc.open-case(client: "A").</span>
            </div></section>
          )}
          {program === null && calls.length === 0 && <div class="card"><Blank title="Nothing chosen yet"><p>Search for a verb and press Enter to add it as a step.</p></Blank></div>}
          {program === null && calls.map((call, index) => (
            <StepCard
              key={call.key} call={call} number={index + 1} count={calls.length} verb={verbs.find(call.verb)} names={[...before, ...names]} faults={faults[index] ?? []} told={told(index + 1)}
              references={[...before, ...calls.flatMap((other) => (other === call ? [] : pathsOf(other.name, verbs.find(other.verb)?.view.output_schema ?? null)))]}
              onChange={(next) => setCalls((now) => now.map((each) => (each.key === call.key ? { ...next, name: each.name } : each)))}
              onRename={(to) => setCalls((now) => renamed(now, call.name, to))}
              onMove={(step) => setCalls((now) => moved(now, now.findIndex((each) => each.key === call.key), step))}
              onRemove={() => setCalls((now) => now.filter((each) => each.key !== call.key).map((each) => ({ ...each, after: each.after.filter((name) => name !== call.name) })))}
            />
          ))}
        </div>
        {!extended && (
          <section class="card plan" aria-labelledby="plan-head" aria-live="polite" aria-busy={!planned.isCurrent}>
            <header><h2 id="plan-head">What it would do</h2></header>
            <div class="inside stack">
              {isEmpty ? <p class="soft">The plan shows here, in sentences, while you write.</p> : program === null && !isFilled ? <p class="soft">Something has still to be filled in: {faults.flat().length} {faults.flat().length === 1 ? "field" : "fields"}.</p> : null}
              {planned.problem && <ProblemBox problem={planned.problem} />}
              {planned.plan && <PlanCard plan={planned.plan} />}
            </div>
          </section>
        )}
      </div>
    </>
  );
}
