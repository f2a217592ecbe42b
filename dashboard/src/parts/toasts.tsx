// Short messages about what just happened; also read aloud.
import { signal } from "@preact/signals";

interface Toast { number: number; text: string; isBad: boolean }
const toasts = signal<Toast[]>([]);
let counted = 0;

export function tell(text: string, { isBad = false } = {}): void {
  const toast = { number: ++counted, text, isBad };
  toasts.value = [...toasts.value.slice(-3), toast];
  setTimeout(() => dismiss(toast.number), isBad ? 12_000 : 5_000);
}

function dismiss(number: number): void {
  toasts.value = toasts.value.filter((each) => each.number !== number);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((each) => (
        <div key={each.number} class={each.isBad ? "toast bad" : "toast"}>
          <span>{each.text}</span>
          <button type="button" class="button tight quiet push" onClick={() => dismiss(each.number)} aria-label="Dismiss">✕</button>
        </div>
      ))}
    </div>
  );
}
