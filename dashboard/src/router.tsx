// Addresses and pages: history routing without a hash, links that keep the page, the query as the page's state.
import { computed, signal } from "@preact/signals";
import type { ComponentChildren, ComponentType } from "preact";

export interface PageProps { params: Record<string, string> }
export interface Route { path: string; title: string; load: () => Promise<{ default: ComponentType<PageProps> }> }

const place = signal({ path: location.pathname, search: location.search });
export const path = computed(() => place.value.path);
export const query = computed(() => new URLSearchParams(place.value.search));

function update(): void {
  place.value = { path: location.pathname, search: location.search };
}
window.addEventListener("popstate", update);

export function navigate(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  const before = place.value.path;
  update();
  if (before !== place.value.path) window.scrollTo(0, 0);
}

/** Changes the query and nothing else; empty values vanish from the address. */
export function setQuery(changes: Record<string, string | null>, { replace = true } = {}): void {
  const next = new URLSearchParams(place.value.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  const text = next.toString();
  navigate(place.value.path + (text ? `?${text}` : ""), { replace });
}

export function match(pattern: string, address: string): Record<string, string> | null {
  const wanted = pattern.split("/");
  const given = address.replace(/(.)\/$/, "$1").split("/");
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? "";
    if (part.startsWith(":") && value) params[part.slice(1)] = decoded(value);
    else if (part !== value) return null;
  }
  return params;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

interface LinkProps {
  to: string; children?: ComponentChildren; class?: string; title?: string; id?: string; "aria-label"?: string | undefined; "aria-current"?: "page" | undefined;
  tabIndex?: number;
}

export function Link({ to, children, ...rest }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(to);
  };
  return (
    <a {...rest} href={to} onClick={follow}>
      {children}
    </a>
  );
}
