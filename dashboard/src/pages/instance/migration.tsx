// Going on under another version: first a dry run that says where each token goes, then the same for real.
import { useEffect, useState } from "preact/hooks";
import { get, post, type Problem } from "../../api/client";
import type { InstanceView, MigrationPlan, ProcessVersion, Versions } from "../../api/process-shapes";
import { asProblem } from "../../live/resource";
import { Dialog } from "../../parts/dialog";
import { ProblemBox } from "../../parts/load-states";
import { tell } from "../../parts/toasts";
import { MigrationTold } from "./migration-plan";

interface MigrateProps { view: InstanceView; name: (element: string) => string; elements: { id: string; name: string }[]; onStale: () => void; onClose: () => void }

export function Migrate({ view, name, elements, onStale, onClose }: MigrateProps) {
  const [versions, setVersions] = useState<ProcessVersion[] | null>(null);
  const [target, setTarget] = useState("");
  const [mapping, setMapping] = useState<Record<string, string>>({});
  const [reason, setReason] = useState("");
  const [plan, setPlan] = useState<MigrationPlan | null>(null);
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);

  useEffect(() => {
    get<Versions>(`/processes/${encodeURIComponent(view.process)}`).then(
      (found) => setVersions(found.versions.filter((each) => each.version !== view.version)),
      (error: unknown) => setProblem(asProblem(error)),
    );
  }, []);

  const ask = async (isDry: boolean) => {
    setBusy(true);
    setProblem(undefined);
    const kept = Object.fromEntries(Object.entries(mapping).filter(([, to]) => to.trim() !== ""));
    try {
      const options = isDry ? {} : { etag: `"${view.sequence}"` };
      const found = await post<MigrationPlan>(`/instances/${view.id}/migrate`, { version: target ? Number(target) : null, mapping: kept, reason, dry_run: isDry }, options);
      if (isDry) setPlan(found);
      else {
        tell(`Now under version ${found.version}`);
        onStale();
        onClose();
      }
    } catch (error) {
      setPlan(null);
      setProblem(asProblem(error));
    }
    setBusy(false);
  };
  const change = (act: () => void) => {
    act();
    setPlan(null);
  };
  const stands = [...new Set(view.tokens.map((token) => token.element))];
  return (
    <Dialog title="Migrate to another version" onClose={onClose} isWide>
      <p class="soft">It runs under version {view.version} of {view.process}. Tokens stay on elements of the same id unless you say otherwise.</p>
      {versions !== null && versions.length === 0 && <p class="notice">There is no other version yet.</p>}
      <div class="field">
        <label for="migrate-version">Version</label>
        <select id="migrate-version" class="input fit" value={target} onChange={(event) => change(() => setTarget(event.currentTarget.value))}>
          <option value="">The latest</option>
          {(versions ?? []).map((each) => <option key={each.version} value={String(each.version)}>{each.version} ({each.status}{each.is_latest ? ", latest" : ""})</option>)}
        </select>
      </div>
      {stands.length > 0 && (
        <fieldset class="field">
          <legend>Where tokens go</legend>
          {stands.map((element) => (
            <div class="row" key={element}>
              <label for={`migrate-${element}`}>{name(element)} to</label>
              <input
                id={`migrate-${element}`} class="input fit" list="migrate-elements" placeholder={`the same (${element})`} value={mapping[element] ?? ""}
                onInput={(event) => change(() => setMapping({ ...mapping, [element]: event.currentTarget.value }))}
              />
            </div>
          ))}
          <datalist id="migrate-elements">{elements.map((each) => <option key={each.id} value={each.id}>{each.name}</option>)}</datalist>
        </fieldset>
      )}
      <div class="field">
        <label for="migrate-reason">Reason</label>
        <textarea id="migrate-reason" class="input" rows={2} value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
      </div>
      {problem && <ProblemBox problem={problem} />}
      {plan && <MigrationTold plan={plan} name={name} />}
      <footer>
        <button type="button" class="button" onClick={onClose}>Keep as it is</button>
        <button type="button" class={`button ${plan ? "" : "primary"}`} disabled={isBusy} onClick={() => void ask(true)}>See what would happen</button>
        <button type="button" class="button primary" disabled={isBusy || plan === null} onClick={() => void ask(false)}>Migrate</button>
      </footer>
    </Dialog>
  );
}
