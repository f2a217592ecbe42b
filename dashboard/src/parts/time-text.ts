// Times and durations in words.
const UNITS: readonly (readonly [number, string])[] = [[86_400, "d"], [3_600, "h"], [60, "m"], [1, "s"]];

/** A length in its two largest units: "3 d 4 h", "12 m 5 s", "0.4 s", "12 ms". */
export function durationText(seconds: number): string {
  const length = Math.abs(seconds);
  if (length < 0.1) return length === 0 ? "0 s" : `${Math.max(1, Math.round(length * 1000))} ms`;
  if (length < 1) return `${length.toFixed(1)} s`;
  let rest = Math.floor(length);
  const parts: string[] = [];
  for (const [size, unit] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count || parts.length) parts.push(count ? `${count} ${unit}` : "");
    if (parts.length === 2) break;
  }
  return parts.filter(Boolean).join(" ");
}

export function agoText(at: string, now: number): string {
  const seconds = (now - Date.parse(at)) / 1000;
  if (Math.abs(seconds) < 5) return "just now";
  return seconds >= 0 ? `${durationText(seconds)} ago` : `in ${durationText(seconds)}`;
}

export function dueText(at: string, now: number): string {
  const seconds = (Date.parse(at) - now) / 1000;
  return seconds >= 0 ? `${durationText(seconds)} left` : `${durationText(seconds)} overdue`;
}

export function exactText(at: string): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
