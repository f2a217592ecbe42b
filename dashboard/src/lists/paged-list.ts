// A list of the server, page after page, as one list that grows when somebody wants more and is read again when it changes.
import { useRef } from "preact/hooks";
import { get } from "../api/client";
import type { LiveEvent, Page } from "../api/shapes";
import { type Resource, useResource } from "../live/resource";

const FIRST = 50;
const MORE = 100;
const MOST_AT_ONCE = 200;
/** Beyond this a list is for searching, not for reading. */
export const MOST = 2_000;

export interface Pages<T> {
  from: Resource<Page<T>>;
  more: () => void;
}

type Query = Record<string, string | number | boolean | null | undefined>;

export function usePages<T>(path: string, query: Query, concerns: (event: LiveEvent) => boolean, settleMs?: number): Pages<T> {
  const asked = JSON.stringify([path, query]);
  const wanted = useRef({ asked, count: FIRST });
  if (wanted.current.asked !== asked) wanted.current = { asked, count: FIRST };
  const from = useResource((signal) => loadPages<T>(path, query, wanted.current.count, signal), [asked], concerns, settleMs);
  const more = () => {
    wanted.current.count = Math.min(MOST, wanted.current.count + MORE);
    from.reload();
  };
  return { from, more };
}

export async function loadPages<T>(path: string, query: Query, count: number, signal?: AbortSignal): Promise<Page<T>> {
  const items: T[] = [];
  let after: string | null = null;
  do {
    const limit = Math.min(MOST_AT_ONCE, count - items.length);
    const page: Page<T> = await get<Page<T>>(path, { query: { ...query, limit, after }, ...(signal ? { signal } : {}) });
    items.push(...page.items);
    after = page.next ?? null;
  } while (after !== null && items.length < count);
  return { items, next: after };
}
