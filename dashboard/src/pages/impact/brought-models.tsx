// The models somebody brings to be checked, and new ids of elements.
import { useRef, useState } from "preact/hooks";
import { Problem } from "../../api/client";
import { ProblemBox } from "../../parts/load-states";
import { mappingOf } from "./impact-words";

export interface Asked { models: { xml: string; file: string }[]; profile: string; mapping: Record<string, string> }

/** The latest versions are compared with what runs. */
export const LATEST: Asked = { models: [], profile: "hollow", mapping: {} };

export function Brought({ onAsk, isBusy }: { onAsk: (asked: Asked) => void; isBusy: boolean }) {
  const files = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState<Problem>();
  const [profile, setProfile] = useState("hollow");
  const [words, setWords] = useState("");
  const ask = async (event: Event) => {
    event.preventDefault();
    setProblem(undefined);
    try {
      const models = await Promise.all([...(files.current?.files ?? [])].map(async (file) => ({ xml: await file.text(), file: file.name })));
      onAsk({ models, profile, mapping: mappingOf(words) });
    } catch {
      setProblem(new Problem(0, "file.changed", "The file cannot be read any more", "It was changed after it was chosen.", "Choose it again."));
    }
  };
  return (
    <form class="card impact-form" aria-label="What is to be deployed" onSubmit={(event) => void ask(event)}>
      <div class="field">
        <label for="impact-files">BPMN files</label>
        <input id="impact-files" class="input" type="file" multiple accept=".bpmn,.xml,application/xml" ref={files} />
        <span class="soft small">Without one, the latest versions are compared with what runs.</span>
      </div>
      <div class="field">
        <label for="impact-profile">Profile</label>
        <select id="impact-profile" class="input" value={profile} onChange={(event) => setProfile(event.currentTarget.value)}>
          <option value="hollow">Hollow</option>
          <option value="contract">Contract</option>
          <option value="open">Open</option>
        </select>
      </div>
      <div class="field">
        <label for="impact-mapping">New ids of elements</label>
        <input id="impact-mapping" class="input mono" placeholder="old=new other=new-other" spellcheck={false} value={words} onInput={(event) => setWords(event.currentTarget.value)} />
      </div>
      <button type="submit" class="button primary" disabled={isBusy}>{isBusy ? "Checking…" : "Check"}</button>
      {problem && <ProblemBox problem={problem} />}
    </form>
  );
}
