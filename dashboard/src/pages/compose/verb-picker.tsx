// Choosing a verb: by its name, what it does or how people ask for it.
import { useMemo, useRef, useState } from "preact/hooks";
import { get } from "../../api/client";
import type { Page, VerbRow } from "../../api/shapes";
import { useResource } from "../../live/resource";
import { Badge } from "../../parts/state-badge";
import { Blank, Loaded } from "../../parts/load-states";

const MAX_SHOWN = 40;

export function VerbPicker({ onPick }: { onPick: (verb: string) => void }) {
  const verbs = useResource((signal) => get<Page<VerbRow>>("/verbs", { signal }), [], (event) => event.kind === "process");
  const [wanted, setWanted] = useState("");
  const list = useRef<HTMLUListElement>(null);
  const found = useMemo(() => matching(verbs.data?.items ?? [], wanted), [verbs.data, wanted]);
  const keys = (event: KeyboardEvent) => {
    const buttons = [...(list.current?.querySelectorAll("button") ?? [])];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    if (event.key === "Enter" && at < 0 && found[0] && wanted) {
      event.preventDefault();
      onPick(found[0].name);
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    const next = at + (event.key === "ArrowDown" ? 1 : -1);
    if (next < 0) document.querySelector<HTMLElement>("[data-search]")?.focus();
    else buttons[next]?.focus();
  };
  return (
    <section class="card picker" aria-labelledby="picker-head" onKeyDown={keys}>
      <header><h2 id="picker-head">Verbs</h2></header>
      <div class="inside stack">
        <input class="input" type="search" data-search aria-label="Search verbs" placeholder="Search verbs" value={wanted} onInput={(event) => setWanted(event.currentTarget.value)} />
        <Loaded from={verbs}>
          {(page) => page.items.length === 0 ? <Blank title="No verbs are loaded" /> : found.length === 0 ? <Blank title="No verb matches" /> : (
            <ul ref={list} class="verbs">
              {found.slice(0, MAX_SHOWN).map((verb) => (
                <li key={verb.name}>
                  <button type="button" onClick={() => onPick(verb.name)}>
                    <span class="row"><strong>{verb.name}</strong>{verb.kind === "durable" && <Badge tone="wait" sign="‖">durable</Badge>}{verb.consequence.startsWith("requires") && <Badge tone="bad" sign="!">{verb.consequence.replace("requires_", "")}</Badge>}</span>
                    <span class="soft small">{verb.description}</span>
                  </button>
                </li>
              ))}
              {found.length > MAX_SHOWN && <li class="soft small">and {found.length - MAX_SHOWN} more; search to narrow</li>}
            </ul>
          )}
        </Loaded>
      </div>
    </section>
  );
}

function matching(verbs: VerbRow[], wanted: string): VerbRow[] {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const searched = (verb: VerbRow) => `${verb.name} ${verb.name.replace(/[-_.]/g, " ")} ${verb.description} ${verb.sentences.join(" ")}`.toLowerCase();
  return verbs.filter((verb) => words.every((word) => searched(verb).includes(word)));
}
