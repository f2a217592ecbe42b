// How long until something is due, and how near that is to being too late.

export type Urgency = "none" | "calm" | "soon" | "overdue" | "done";

export interface Clock {
  urgency: Urgency;
  /** `due in 2 days`, `overdue by 3 hours`. */
  text: string;
  /** How much of the time is gone, 0 to 1; null when nobody knows when it began. */
  gone: number | null;
}

export interface Rung {
  at: string | null;
  act: string;
  to: string;
  is_done: boolean;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const SOON = 0.8;
const SOON_AT_LATEST = 2 * HOUR;

/** The clock of something due; without a due time there is none to tell. */
export function clockOf(dueAt: string | null | undefined, since: string | null | undefined, now: number): Clock {
  const due = dueAt ? Date.parse(dueAt) : Number.NaN;
  if (Number.isNaN(due)) return { urgency: "none", text: "no due date", gone: null };
  const began = since ? Date.parse(since) : Number.NaN;
  const whole = due - began;
  const gone = Number.isNaN(whole) || whole <= 0 ? null : Math.min(1, Math.max(0, (now - began) / whole));
  if (now >= due) return { urgency: "overdue", text: `overdue by ${span(now - due)}`, gone: 1 };
  const isSoon = due - now <= SOON_AT_LATEST || (gone !== null && gone >= SOON);
  return { urgency: isSoon ? "soon" : "calm", text: `due in ${span(due - now)}`, gone };
}

/** The clocks of the rungs of a ladder, in order; `next` is the first that was not climbed. */
export function ladderOf(ladder: readonly Rung[], since: string | null | undefined, now: number): { rungs: (Rung & { clock: Clock; text: string })[]; next: number } {
  const rungs = ladder.map((rung) => {
    const clock = rung.is_done ? { urgency: "done" as const, text: "done", gone: 1 } : clockOf(rung.at, since, now);
    return { ...rung, clock, text: rungText(rung) };
  });
  return { rungs, next: rungs.findIndex((rung) => !rung.is_done) };
}

function rungText(rung: Rung): string {
  const whom = rung.to.replace(/^user:/, "");
  switch (rung.act) {
    case "remind":
      return whom === "" ? "Remind whoever has it" : `Remind ${whom}`;
    case "reassign":
      return `Give it to ${whom}`;
    case "escalate":
      return `Escalate to ${whom}`;
    default:
      return whom === "" ? rung.act : `${rung.act} ${whom}`;
  }
}

/** A span of time in the two units that matter: `2 days 4 hours`, `3 minutes`, `less than a minute`. */
export function span(milliseconds: number): string {
  const whole = Math.abs(milliseconds);
  if (whole < MINUTE) return "less than a minute";
  if (whole < HOUR) return unit(Math.floor(whole / MINUTE), "minute");
  if (whole < DAY) return two(Math.floor(whole / HOUR), "hour", Math.floor((whole % HOUR) / MINUTE), "minute");
  return two(Math.floor(whole / DAY), "day", Math.floor((whole % DAY) / HOUR), "hour");
}

function two(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 || large >= 10 ? unit(large, largeUnit) : `${unit(large, largeUnit)} ${unit(small, smallUnit)}`;
}

function unit(amount: number, name: string): string {
  return `${amount} ${amount === 1 ? name : `${name}s`}`;
}
