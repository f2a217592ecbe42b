// The head of a page: its one h1, what it is about, and the acts that apply.
import type { ComponentChildren } from "preact";

export function PageHead({ title, children, actions }: { title: ComponentChildren; children?: ComponentChildren; actions?: ComponentChildren }) {
  return (
    <div class="page-head">
      <div class="titles">
        <h1 tabIndex={-1}>{title}</h1>
        {children}
      </div>
      {actions && <div class="actions">{actions}</div>}
    </div>
  );
}
