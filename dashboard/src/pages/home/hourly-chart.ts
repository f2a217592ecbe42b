// The small chart of a day: how high each hour's bars are, and what they say in words.
export interface Hour { at: string; started: number; ended: number; failed: number }
export interface Column { at: string; started: number; ended: number; failed: number; startedShare: number; endedShare: number; failedShare: number; label: string }

/** Columns from 0 to 1 of the busiest hour. An hour in which something failed shows it, however little it was. */
export function columnsOf(hours: Hour[]): Column[] {
  const most = Math.max(1, ...hours.map((hour) => Math.max(hour.started, hour.ended)));
  const share = (count: number) => (count === 0 ? 0 : Math.max(0.03, count / most));
  return hours.map((hour) => ({
    ...hour, startedShare: share(hour.started), endedShare: share(hour.ended), failedShare: share(hour.failed),
    label: `${clock(hour.at)}: ${hour.started} started, ${hour.ended} ended, ${hour.failed} failed`,
  }));
}

export function clock(at: string): string {
  const date = new Date(at);
  return `${String(date.getHours()).padStart(2, "0")}:00`;
}

export function countText(count: number, upTo: number | undefined): string {
  return upTo !== undefined && count >= upTo ? `${upTo}+` : String(count);
}
