// Moving tokens by hand: take some away, put others before elements, in one commit.
import { useState } from "preact/hooks";
import { post } from "../../api/client";
import type { InstanceView } from "../../api/process-shapes";
import { type Agreed, Confirm } from "../../parts/dialog";
import { tell } from "../../parts/toasts";

interface ModifyProps { view: InstanceView; name: (element: string) => string; elements: { id: string; name: string }[]; onChange: (view: InstanceView) => void; onClose: () => void; start?: string }

export function Modify({ view, name, elements, onChange, onClose, start = "" }: ModifyProps) {
  const [gone, setGone] = useState<number[]>(view.tokens.length === 1 ? view.tokens.map((token) => token.number) : []);
  const [target, setTarget] = useState(start);
  const toggle = (number: number) => setGone(gone.includes(number) ? gone.filter((each) => each !== number) : [...gone, number]);
  const run = async (reason: string, _: string, agreed: Agreed) => {
    const body = { cancel: gone, start: target ? [target] : [], reason, ...agreed };
    onChange(await post<InstanceView>(`/instances/${view.id}/modify`, body, { etag: `"${view.sequence}"` }));
    tell("Tokens moved");
  };
  return (
    <Confirm title="Move tokens" act="Move" reason="required" onAct={run} onClose={onClose}>
      <fieldset class="field">
        <legend>Take away</legend>
        {view.tokens.length === 0 && <span class="soft">It has no tokens.</span>}
        {view.tokens.map((token) => (
          <label key={token.number} class="check">
            <input type="checkbox" checked={gone.includes(token.number)} onChange={() => toggle(token.number)} />
            <span>Token {token.number} at {name(token.element)}</span>
          </label>
        ))}
      </fieldset>
      <div class="field">
        <label for="modify-target">Put a token before</label>
        <select id="modify-target" class="input" value={target} onChange={(event) => setTarget(event.currentTarget.value)}>
          <option value="">Nowhere</option>
          {elements.map((each) => <option key={each.id} value={each.id}>{each.name}</option>)}
        </select>
      </div>
      <p class="soft small">{told(gone.length, target ? name(target) : "")}</p>
    </Confirm>
  );
}

function told(gone: number, target: string): string {
  if (gone === 0 && target === "") return "Nothing is chosen yet.";
  const away = gone === 0 ? "" : `${gone} ${gone === 1 ? "token is" : "tokens are"} taken away with everything inside and armed on ${gone === 1 ? "it" : "them"}`;
  const put = target === "" ? "" : `one begins at ${target}`;
  return `${[away, put].filter(Boolean).join(", and ")}.`.replace(/^./, (letter) => letter.toUpperCase());
}
