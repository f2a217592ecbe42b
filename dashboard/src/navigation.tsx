// Bar and navigation: where one can go, who one is, whether what one sees is live.
import { signal } from "@preact/signals";
import { mayDo, session } from "./api/client";
import { signOut } from "./api/session";
import { liveState } from "./live/event-stream";
import { Link, path } from "./router";
import { places } from "./routes";
import { isHelpOpen } from "./shortcuts";

export const isMenuOpen = signal(false);
const theme = signal<string>(document.documentElement.dataset["theme"] ?? "");

export function Bar() {
  const who = session.value;
  return (
    <header class="bar">
      <button type="button" class="button square quiet menu-button" aria-label="Menu" aria-expanded={isMenuOpen.value} aria-controls="side" onClick={() => (isMenuOpen.value = !isMenuOpen.value)}>☰</button>
      <Link to="/" class="brand" aria-label="Perdure, home"><img src="/mark.svg" alt="" /><span>Perdure</span></Link>
      <LiveState />
      <span class="push" />
      {who && <div class="who"><span>{who.principal}</span><span class="soft small">{who.tenant} · {who.roles.join(", ")}</span></div>}
      <button type="button" class="button square quiet" onClick={toggleTheme} aria-label={`Theme: ${theme.value || "system"}; change`} title="Light, dark, system">{theme.value === "dark" ? "☾" : theme.value === "light" ? "☀" : "◐"}</button>
      <button type="button" class="button square quiet" onClick={() => (isHelpOpen.value = true)} aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)">?</button>
      {who && who.authentication !== "none" && <button type="button" class="button quiet" onClick={() => void signOut()}>Sign out</button>}
    </header>
  );
}

const LIVE = { connecting: "Connecting", live: "Live", reconnecting: "Reconnecting…", paused: "Paused" } as const;

function LiveState() {
  return (
    <span class={`live-state ${liveState.value}`} role="status" aria-live="polite" data-live={liveState.value}>
      <span class="dot" aria-hidden="true" />{LIVE[liveState.value]}
    </span>
  );
}

export function Side() {
  const here = path.value;
  return (
    <div class={`side ${isMenuOpen.value ? "open" : ""}`} id="side">
      <nav aria-label="Main">
        {places.filter((each) => !each.operation || mayDo(each.operation)).map((each) => {
          const isHere = each.to === "/" ? here === "/" : here === each.to || here.startsWith(`${each.to}/`);
          return <Link key={each.to} to={each.to} aria-current={isHere ? "page" : undefined}>{each.label}</Link>;
        })}
      </nav>
    </div>
  );
}

function toggleTheme(): void {
  const next = theme.value === "" ? "light" : theme.value === "light" ? "dark" : "";
  theme.value = next;
  if (next) document.documentElement.dataset["theme"] = next;
  else delete document.documentElement.dataset["theme"];
  try {
    if (next) localStorage.setItem("perdure.theme", next);
    else localStorage.removeItem("perdure.theme");
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}
