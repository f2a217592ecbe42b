// An id, shortened for the eye, copied whole.
import { tell } from "./toasts";

export function shortId(id: string): string {
  return id.length > 12 ? `${id.slice(0, 4)}…${id.slice(-6)}` : id;
}

export function Identity({ id }: { id: string }) {
  const copy = async () => {
    await navigator.clipboard?.writeText(id);
    tell("Copied");
  };
  return (
    <span class="row tight">
      <code title={id}>{id}</code>
      <button type="button" class="button tight quiet" onClick={copy} aria-label={`Copy ${id}`}>copy</button>
    </span>
  );
}
