// Tabs: arrow keys move between them, the chosen one is in the address.
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { query, setQuery } from "../router";

export interface Tab { name: string; label: ComponentChildren; show: () => ComponentChildren }

export function Tabs({ tabs, label, field = "tab" }: { tabs: Tab[]; label: string; field?: string }) {
  const base = useId();
  const asked = query.value.get(field);
  const chosen = tabs.find((each) => each.name === asked) ?? tabs[0];
  if (!chosen) return null;
  const choose = (tab: Tab | undefined) => tab && setQuery({ [field]: tab === tabs[0] ? null : tab.name });
  const keys = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    const next = tabs[(tabs.indexOf(chosen) + step + tabs.length) % tabs.length];
    choose(next);
    document.getElementById(`${base}-${next?.name}`)?.focus();
  };
  return (
    <div class="stack">
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={keys}>
        {tabs.map((tab) => (
          <button
            key={tab.name} type="button" role="tab" id={`${base}-${tab.name}`} aria-selected={tab === chosen} tabIndex={tab === chosen ? 0 : -1}
            aria-controls={tab === chosen ? `${base}-panel` : undefined} onClick={() => choose(tab)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${base}-panel`} aria-labelledby={`${base}-${chosen.name}`}>{chosen.show()}</div>
    </div>
  );
}
