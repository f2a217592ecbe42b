// A list of the server on the page: loading, empty, its rows, and its end, from where it may go on.
import type { ComponentChildren } from "preact";
import { Loaded } from "../parts/load-states";
import "./lists.css";
import { MOST, type Pages } from "./paged-list";

interface ListProps<T> {
  of: Pages<T>;
  label: string;
  /** One of them, and many. */
  nouns: readonly [string, string];
  /** How many lines it has while it loads. */
  lines?: number;
  /** What is shown when there is nothing. */
  none: ComponentChildren;
  children: (items: T[]) => ComponentChildren;
}

export function List<T>({ of, label, nouns, lines = 8, none, children }: ListProps<T>) {
  return (
    <section class="card" aria-label={label}>
      <Loaded from={of.from} lines={lines}>
        {(page) => page.items.length === 0 ? none : (
          <>
            {children(page.items)}
            <End of={of} noun={nouns[page.items.length === 1 ? 0 : 1]} />
          </>
        )}
      </Loaded>
    </section>
  );
}

function End<T>({ of, noun }: { of: Pages<T>; noun: string }) {
  const page = of.from.data;
  if (!page) return null;
  const isFull = page.items.length >= MOST;
  return (
    <p class="row list-end soft small" role="status">
      <span>{page.next === null ? `${page.items.length} ${noun}` : `The first ${page.items.length} ${noun}`}{isFull && page.next !== null ? "; narrow the list to see others" : ""}</span>
      {page.next !== null && !isFull && <button type="button" class="button tight" onClick={of.more}>Show more</button>}
    </p>
  );
}
