// Adding steps to a runbook that runs; what is grave asks a person to confirm it first.
import { useState } from "preact/hooks";
import { post, Problem } from "../../api/client";
import { asProblem } from "../../live/resource";
import { Confirm } from "../../parts/dialog";

interface Asked { hash: string; phrase: string; sentences: string[]; text: string }
interface ExtendProps { id: string; body: object; isDisabled: boolean; onExtended: () => void; onProblem: (problem: Problem | undefined) => void }

export function ExtendButton({ id, body, isDisabled, onExtended, onProblem }: ExtendProps) {
  const [asked, setAsked] = useState<Asked>();
  const [isBusy, setBusy] = useState(false);
  const extend = (confirm: string, phrase: string) => post(`/runbooks/${id}/extend`, { ...body, confirm, phrase });
  const first = async () => {
    setBusy(true);
    onProblem(undefined);
    try {
      await extend("", "");
      onExtended();
    } catch (error) {
      const problem = asProblem(error);
      if (problem.status === 423) setAsked(askedBy(problem));
      else onProblem(problem);
    }
    setBusy(false);
  };
  return (
    <>
      <button type="button" class="button primary" disabled={isDisabled || isBusy} onClick={() => void first()}>Add these steps</button>
      {asked && (
        <Confirm title="Confirm the new steps" act="Add them" reason="none" phrase={asked.phrase} onAct={async (_, phrase) => { await extend(asked.hash, phrase); onExtended(); }} onClose={() => setAsked(undefined)}>
          <p>{asked.text}</p>
          <ol class="sentences">{asked.sentences.map((each, index) => <li key={index}>{each}</li>)}</ol>
        </Confirm>
      )}
    </>
  );
}

function askedBy(problem: Problem): Asked {
  const { plan_hash: hash, phrase, sentences } = problem.members;
  return { hash: String(hash ?? ""), phrase: String(phrase ?? ""), sentences: Array.isArray(sentences) ? sentences.map(String) : [], text: problem.message };
}
