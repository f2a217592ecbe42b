// Which rows of a long list are drawn: those in sight and a few around them.
export interface Span { first: number; last: number }

export function spanInSight(scrollTop: number, height: number, rowHeight: number, count: number, around = 8): Span {
  const first = Math.max(0, Math.floor(scrollTop / rowHeight) - around);
  const last = Math.min(count, Math.ceil((scrollTop + height) / rowHeight) + around);
  return { first: Math.min(first, count), last: Math.max(last, Math.min(first, count)) };
}

/** Where to scroll so that a row is whole in sight; the same place when it already is. */
export function scrollToRow(index: number, scrollTop: number, height: number, rowHeight: number): number {
  if (index * rowHeight < scrollTop) return index * rowHeight;
  if ((index + 1) * rowHeight > scrollTop + height) return (index + 1) * rowHeight - height;
  return scrollTop;
}
