// Compose: a new runbook, a draft, or more steps for a runbook that runs; what there is already is read first.
import { useEffect, useState } from "preact/hooks";
import { get, getWithTag, type Problem } from "../../api/client";
import type { RunbookView } from "../../api/shapes";
import { asProblem } from "../../live/resource";
import { Loading, ProblemBox } from "../../parts/load-states";
import { query } from "../../router";
import type { DraftView } from "../runbook/runbook-reader";
import { Composer, type Start } from "./composer";
import { freshCall, fromDocument } from "./composed-calls";
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

const EMPTY: Start = { calls: [], program: null, case: "", draft: "", etag: "", runbook: null };

async function begin(draft: string, extended: string): Promise<Start> {
  if (extended) return { ...EMPTY, runbook: await get<RunbookView>(`/runbooks/${encodeURIComponent(extended)}`) };
  const verb = query.peek().get("verb");
  if (!draft) return verb ? { ...EMPTY, calls: [freshCall(0, verb, [])] } : EMPTY;
  const { data, etag } = await getWithTag<DraftView>(`/drafts/${encodeURIComponent(draft)}`);
  const calls = fromDocument(data.document);
  return { ...EMPTY, calls: calls ?? [], program: calls ? null : data.program, case: data.case, draft, etag };
}
