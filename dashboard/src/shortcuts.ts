// Keys: g then a letter goes somewhere, / searches, ? lists them all. Never while somebody types.
import { signal } from "@preact/signals";
import { places } from "./routes";
import { navigate } from "./router";

export const isHelpOpen = signal(false);
export interface Shortcut { keys: string; label: string }

/** Shortcuts of the page that is open, shown in the help; pages set them while they are there. */
export const pageShortcuts = signal<Shortcut[]>([]);
const CHORD_MS = 1200;
let chord = 0;

export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

export function listenForKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.key === "Escape" && isTyping(event.target) && !document.querySelector("dialog[open]")) (event.target as HTMLElement).blur();
    if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
    if (Date.now() - chord < CHORD_MS) {
      chord = 0;
      const place = places.find((each) => each.keys === event.key);
      if (place) {
        event.preventDefault();
        navigate(place.to);
      }
      return;
    }
    if (event.key === "g") chord = Date.now();
    else if (event.key === "?") isHelpOpen.value = true;
    else if (event.key === "/") search(event);
  });
}

function search(event: KeyboardEvent): void {
  const field = document.querySelector<HTMLElement>("main [data-search]");
  event.preventDefault();
  if (field) field.focus();
  else navigate("/runbooks?search=1");
}
