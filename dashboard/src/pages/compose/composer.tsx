// Choosing verbs, filling in forms, seeing the sentences and the plan, keeping it as a draft, running it.
import { useEffect, useRef, useState } from "preact/hooks";
import { mayDo, post, type Problem, put } from "../../api/client";
import type { RunbookView } from "../../api/shapes";
import { asProblem } from "../../live/resource";
import { PageHead } from "../../parts/page-head";
import { Blank, ProblemBox } from "../../parts/load-states";
import { tell } from "../../parts/toasts";
import { Undo } from "../../parts/undo-buttons";
import { Link, navigate } from "../../router";
import { PlanCard } from "../runbook/plan-card";
import type { DraftView } from "../runbook/runbook-reader";
import { StartButton } from "../runbook/start-button";
import { argsOf, asJson, type Call, freshCall, moved, pathsOf, renamed, stepOf } from "./composed-calls";
import { VerbPicker } from "./verb-picker";
import { programOf } from "./program-text";
import { StepCard } from "./step-card";
import { useComposition } from "./use-composition";
import { type Planned, usePlan } from "./use-plan";
import { type KnownVerb, useVerbs } from "./use-verbs";

export interface Start { calls: Call[]; program: string | null; case: string; draft: string; etag: string; runbook: RunbookView | null }

export function Composer({ start, extended }: { start: Start; extended: string }) {
  const { now, change, changeCalls, undo, redo } = useComposition({ calls: start.calls, program: start.program, case: start.case });
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const saved = useRef({ draft: start.draft, etag: start.etag });
  const keys = useRef(start.calls.length + 1);
  const verbs = useVerbs();
  const { calls, program } = now;
  useEffect(() => calls.forEach((call) => void verbs.need(call.verb)), [calls]);

  const before = start.runbook?.steps.map((step) => step.name) ?? [];
  const json = asJson(calls, (verb) => verbs.find(verb)?.shape);
  const content = program !== null ? { program } : { calls: json };
  const faults = calls.map((call) => {
    const verb = verbs.find(call.verb);
    return verb ? argsOf(call, verb.shape).faults : [];
  });
  const isEmpty = program !== null ? program.trim() === "" : calls.length === 0;
  const missing = program === null ? faults.flat().length : 0;
  const planned = usePlan(extended ? `/runbooks/${extended}/extend/plan` : "/runbooks/plan", content, !isEmpty && missing === 0);

  const pick = async (verb: string) => {
    const known = await verbs.need(verb);
    if (!known) return;
    const key = keys.current++;
    changeCalls((there) => [...there, freshCall(key, known.view.name, [...before, ...there.map((each) => each.name)])]);
    requestAnimationFrame(() => {
      const cards = document.querySelectorAll(".step-card");
      cards[cards.length - 1]?.querySelector<HTMLElement>("input, select, textarea")?.focus();
    });
  };
  const save = async () => {
    const body = { ...content, case: now.case };
    if (saved.current.draft) {
      const { data, etag } = await put<DraftView>(`/drafts/${saved.current.draft}`, body, { etag: saved.current.etag });
      saved.current = { draft: data.id, etag };
    } else {
      const data = await post<DraftView>("/drafts", body);
      saved.current = { draft: data.id, etag: `"${data.sequence}"` };
      history.replaceState(null, "", `/compose?draft=${data.id}`);
    }
  };
  const keep = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      await save();
      tell("Kept as a draft");
      navigate(`/runbooks/${saved.current.draft}`);
    } catch (error) {
      setProblem(asProblem(error));
    }
    setBusy(false);
  };
  const run = async (confirm: string, phrase: string) => {
    if (extended) return post<RunbookView>(`/runbooks/${extended}/extend`, { ...content, confirm, phrase });
    if (!saved.current.draft) return post<RunbookView>("/runbooks", { ...content, case: now.case, confirm, phrase });
    await save();
    return post<RunbookView>(`/drafts/${saved.current.draft}/start`, { confirm, phrase });
  };
  const started = (view: RunbookView) => {
    tell(extended ? "Steps were added" : "It runs");
    navigate(`/runbooks/${view.id}`);
  };
  const told = (number: number) => (planned.problem?.errors ?? []).filter((each) => stepOf(each.path) === number).map((each) => [each.message, each.hint].filter(Boolean).join(" "));
  const resultsFor = (call: Call) => [...before, ...calls.flatMap((other) => (other === call ? [] : pathsOf(other.name, outputOf(verbs.find(other.verb)))))];

  return (
    <>
      <PageHead
        title={extended ? "Extend a runbook" : saved.current.draft ? "Edit a draft" : "Compose a runbook"}
        actions={
          <>
            <Undo undo={undo} redo={redo} isDisabled={isBusy} />
            {!extended && mayDo("runbook.draft") && <button type="button" class="button" disabled={isBusy || isEmpty} onClick={() => void keep()}>Save draft</button>}
            {mayDo(extended ? "runbook.extend" : "runbook.start") && planned.plan && <StartButton plan={planned.plan} adds={Boolean(extended)} isDisabled={!planned.isCurrent} start={run} onStarted={started} />}
          </>
        }
      >
        {extended ? <p class="soft">Steps come behind <Link to={`/runbooks/${extended}`}>{before.length === 1 ? "the one step" : `the ${before.length} steps`} there {before.length === 1 ? "is" : "are"}</Link> and may use what {before.length === 1 ? "it results" : "they result"} in. Nothing is added before you agree.</p> : <p class="soft">Choose verbs, fill them in, look at the plan. Nothing happens before you run it.</p>}
      </PageHead>
      {problem && <ProblemBox problem={problem} />}
      {verbs.problem && <ProblemBox problem={verbs.problem} />}
      <div class="compose">
        {program === null && <VerbPicker onPick={(verb) => void pick(verb)} />}
        <div class="stack">
          <div class="row">
            {!extended && <label class="row">Case <input class="input fit" value={now.case} placeholder="none" disabled={Boolean(start.draft)} onInput={({ currentTarget: { value } }) => change((there) => ({ ...there, case: value }), "case")} /></label>}
            <div class="chips push" role="group" aria-label="Written as">
              <button type="button" class="chip" aria-pressed={program === null} disabled={program !== null && calls.length === 0 && program.trim() !== ""} onClick={() => change((there) => ({ ...there, program: null }))}>Forms</button>
              <button type="button" class="chip" aria-pressed={program !== null} onClick={() => change((there) => ({ ...there, program: there.program ?? programOf(json) }))}>Text</button>
            </div>
          </div>
          {program !== null && <Program text={program} onText={(text) => change((there) => ({ ...there, program: text }), "program")} />}
          {program === null && calls.length === 0 && <div class="card"><Blank title="Nothing chosen yet"><p>Search for a verb and press Enter to add it as a step.</p></Blank></div>}
          {program === null && calls.map((call, index) => (
            <StepCard
              key={call.key} call={call} number={index + 1} count={calls.length} verb={verbs.find(call.verb)} names={[...before, ...calls.map((each) => each.name)]} faults={faults[index] ?? []} told={told(index + 1)}
              references={resultsFor(call)}
              onChange={(next, mark) => changeCalls((there) => there.map((each) => (each.key === call.key ? { ...next, name: each.name } : each)), mark)}
              onRename={(to) => changeCalls((there) => renamed(there, call.name, to), `${call.key} name`)}
              onMove={(step) => changeCalls((there) => moved(there, there.findIndex((each) => each.key === call.key), step))}
              onRemove={() => changeCalls((there) => there.filter((each) => each.key !== call.key).map((each) => ({ ...each, after: each.after.filter((name) => name !== call.name) })))}
            />
          ))}
        </div>
        <WhatItDoes planned={planned} isEmpty={isEmpty} missing={missing} isExtension={Boolean(extended)} />
      </div>
    </>
  );
}

function outputOf(verb: KnownVerb | undefined) {
  return verb?.view.output_schema ?? null;
}

function Program({ text, onText }: { text: string; onText: (text: string) => void }) {
  return (
    <section class="card"><div class="inside field">
      <label for="program">Program</label>
      <textarea id="program" class="input mono" rows={18} spellcheck={false} value={text} onInput={(event) => onText(event.currentTarget.value)} />
      <span class="help">Calls in either form of the language, as in LET case = EXEC kyc.open-case(client: "A").</span>
    </div></section>
  );
}

function WhatItDoes({ planned, isEmpty, missing, isExtension }: { planned: Planned; isEmpty: boolean; missing: number; isExtension: boolean }) {
  return (
    <section class="card plan" aria-labelledby="plan-head" aria-live="polite" aria-busy={!planned.isCurrent}>
      <header><h2 id="plan-head">{isExtension ? "What would be added" : "What it would do"}</h2></header>
      <div class="inside stack">
        {isEmpty ? <p class="soft">The plan shows here, in sentences, while you write.</p> : missing > 0 ? <p class="soft">Something has still to be filled in: {missing} {missing === 1 ? "field" : "fields"}.</p> : null}
        {planned.problem && <ProblemBox problem={planned.problem} />}
        {planned.plan && <PlanCard plan={planned.plan} />}
      </div>
    </section>
  );
}
