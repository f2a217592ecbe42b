// The end of a list that may go on.
import "./lists.css";
import { MOST, type Pages } from "./pages";

export function More<T>({ of, noun }: { of: Pages<T>; noun: string }) {
  const page = of.from.data;
  if (!page || page.items.length === 0) return null;
  const isFull = page.items.length >= MOST;
  return (
    <p class="row list-end soft small" role="status">
      <span>{page.next === null ? `${page.items.length} ${noun}` : `The first ${page.items.length} ${noun}`}{isFull && page.next !== null ? "; narrow the list to see others" : ""}</span>
      {page.next !== null && !isFull && <button type="button" class="button tight" onClick={of.more}>Show more</button>}
    </p>
  );
}
