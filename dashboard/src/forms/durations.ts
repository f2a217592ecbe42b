// Durations of ISO 8601, read, written and said in words.

export interface Duration {
  years: number;
  months: number;
  weeks: number;
  days: number;
  hours: number;
  minutes: number;
  seconds: number;
}

const UNITS = ["years", "months", "weeks", "days", "hours", "minutes", "seconds"] as const;
const FORM =
  /^P(?:(?<years>\d+)Y)?(?:(?<months>\d+)M)?(?:(?<weeks>\d+)W)?(?:(?<days>\d+)D)?(?:T(?:(?<hours>\d+)H)?(?:(?<minutes>\d+)M)?(?:(?<seconds>\d+(?:\.\d+)?)S)?)?$/;

/** The duration a text writes, or null: `P3D`, `PT1H30M`; `P` and `PT1` write none. */
export function parseDuration(text: string): Duration | null {
  const found = FORM.exec(text.trim());
  if (found?.groups === undefined || text.trim().endsWith("T")) return null;
  const parts = found.groups;
  if (UNITS.every((unit) => parts[unit] === undefined)) return null;
  return Object.fromEntries(UNITS.map((unit) => [unit, Number(parts[unit] ?? 0)])) as unknown as Duration;
}

/** `3 days, 2 hours`; empty when the text writes no duration. */
export function sayDuration(text: string): string {
  const duration = parseDuration(text);
  if (duration === null) return "";
  const said = UNITS.filter((unit) => duration[unit] !== 0).map((unit) => count(duration[unit], unit));
  return said.length > 0 ? said.join(", ") : "no time at all";
}

function count(amount: number, unit: string): string {
  return `${amount} ${amount === 1 ? unit.slice(0, -1) : unit}`;
}
