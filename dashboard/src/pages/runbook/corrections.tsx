// Corrections of a call's data: who proposed what and why, and agreeing to it as a second person.
import { useState } from "preact/hooks";
import { get, mayDo, post, session } from "../../api/client";
import type { Correction, Json, Page } from "../../api/shapes";
import { useResource } from "../../live/resource";
import { Badge } from "../../parts/state-badge";
import { Confirm } from "../../parts/dialog";
import { JsonTree } from "../../parts/json-tree";
import { Loaded } from "../../parts/load-states";
import { Ago } from "../../parts/relative-time";
import { tell } from "../../parts/toasts";
import { type Change, changesOf } from "./value-changes";
import type { CallView } from "./runbook-reader";

export function Corrections({ call, onDone }: { call: CallView; onDone: () => void }) {
  const path = `/calls/${encodeURIComponent(call.id)}`;
  const found = useResource((signal) => get<Page<Correction>>(`${path}/amendments`, { signal }), [path, call.sequence]);
  const [asked, setAsked] = useState<Correction>();
  const now = (correction: Correction) => (correction.amendment.target === "input" ? call.args : call.result);
  const approve = async () => {
    await post(`${path}/approve`, { amendment: asked?.amendment.number }, { etag: `"${call.sequence}"` });
    tell("The correction holds");
    onDone();
  };
  return (
    <section class="card" aria-labelledby="corrections-head">
      <header><h2 id="corrections-head">Corrections</h2></header>
      <div class="inside">
        <Loaded from={found} lines={3}>{(page) => <ol class="corrections">{page.items.map((each) => <Told key={each.amendment.number} correction={each} now={now(each)} onApprove={() => setAsked(each)} />)}</ol>}</Loaded>
      </div>
      {asked && (
        <Confirm title="Approve this correction?" act="Approve" reason="none" onAct={approve} onClose={() => setAsked(undefined)}>
          <p>{asked.amendment.by} asks for it: “{asked.amendment.reason}”. From now on these data hold; what was there before stays in the history.</p>
          <Changes changes={changesOf(now(asked), asked.data)} />
        </Confirm>
      )}
    </section>
  );
}

function Told({ correction, now, onApprove }: { correction: Correction; now: Json | undefined; onApprove: () => void }) {
  const { amendment, data } = correction;
  const isMine = amendment.by === session.value?.principal;
  return (
    <li class="stack tight">
      <span class="row">
        <strong>The {amendment.target}</strong>
        {amendment.approved_by ? <Badge tone="good" sign="✓">approved by {amendment.approved_by}</Badge> : <Badge tone="wait" sign="‖">waits for a second person</Badge>}
      </span>
      <span class="soft small">proposed by {amendment.by} <Ago at={amendment.at} />: “{amendment.reason}”</span>
      {data === null ? <p class="soft">Its data was erased.</p> : amendment.approved_by ? <details><summary class="soft small">What holds since then</summary><JsonTree value={data} label={`Correction ${amendment.number}`} /></details> : <Changes changes={changesOf(now, data)} />}
      {!amendment.approved_by && data !== null && isMine && <span class="soft small">Somebody else has to approve it.</span>}
      {!amendment.approved_by && data !== null && !isMine && mayDo("call.approve") && <button type="button" class="button tight primary" onClick={onApprove}>Approve correction {amendment.number}</button>}
    </li>
  );
}

function Changes({ changes }: { changes: Change[] }) {
  if (changes.length === 0) return <p class="soft">It changes nothing of what holds now.</p>;
  return (
    <dl class="facts changes">
      {changes.map((each) => [
        <dt key={each.path}>{each.path || "All of it"}</dt>,
        <dd key={`${each.path} =`}><del>{written(each.before)}</del> <span aria-hidden="true">→</span><span class="unseen"> becomes </span> <ins>{written(each.after)}</ins></dd>,
      ])}
    </dl>
  );
}

function written(value: Json | undefined): string {
  return value === undefined ? "nothing" : typeof value === "string" ? value : JSON.stringify(value);
}
