// Times on a page: how long ago, how long left, kept current by one clock.
import { signal } from "@preact/signals";
import { agoText, dueText, exactText } from "./time-text";

export const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1000);

export function Ago({ at }: { at: string | null | undefined }) {
  if (!at) return <span class="soft">–</span>;
  return <time dateTime={at} title={exactText(at)} class="number">{agoText(at, now.value)}</time>;
}

/** Time left until something happens; in the colour of trouble once it is over. */
export function Left({ at }: { at: string | null | undefined }) {
  if (!at) return <span class="soft">no limit</span>;
  const isOver = Date.parse(at) < now.value;
  return <time dateTime={at} title={exactText(at)} class={`number badge ${isOver ? "bad" : "wait"}`}>{dueText(at, now.value)}</time>;
}

export function Exact({ at }: { at: string | null | undefined }) {
  if (!at) return <span class="soft">–</span>;
  return <time dateTime={at} title={at} class="number">{exactText(at)}</time>;
}
