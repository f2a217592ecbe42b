// What is drawn onto a BPMN diagram: tokens, counts, incidents, findings and the path taken.

export interface TokenMark {
  element: string;
  count: number;
}

export interface IncidentMark {
  element: string;
  token: number;
  code: string;
  text: string;
}

export interface FindingMark {
  element: string;
  code: string;
  severity: string;
  fact: string;
}

export interface Marks {
  tokens: TokenMark[];
  completed: TokenMark[];
  incidents: IncidentMark[];
  path: string[];
  flows: string[];
  findings: FindingMark[];
}

export interface Badge {
  kind: "token" | "completed" | "incident" | "finding-error" | "finding-warning";
  element: string;
  text: string;
  /** What a screen reader and a tooltip say. */
  label: string;
}

export interface Drawn {
  badges: Badge[];
  /** CSS class by element. */
  classes: Map<string, string[]>;
}

export const NO_MARKS: Marks = { tokens: [], completed: [], incidents: [], path: [], flows: [], findings: [] };

/** What to draw; an element that the diagram does not show is left out and told in `unplaced`. */
export function drawn(marks: Marks, isShown: (element: string) => boolean, name: (element: string) => string): Drawn & { unplaced: Badge[] } {
  const all = [...tokenBadges(marks, name), ...completedBadges(marks, name), ...incidentBadges(marks, name), ...findingBadges(marks, name)];
  const classes = new Map<string, string[]>();
  const add = (element: string, style: string): void => {
    if (isShown(element)) classes.set(element, [...(classes.get(element) ?? []), style]);
  };
  for (const element of marks.path) add(element, "mark-passed");
  for (const flow of marks.flows) add(flow, "mark-flow");
  for (const each of marks.tokens) if (each.count > 0) add(each.element, "mark-active");
  for (const each of marks.incidents) add(each.element, "mark-stuck");
  for (const each of marks.findings) add(each.element, each.severity === "error" ? "mark-error" : "mark-warning");
  return { badges: all.filter((each) => isShown(each.element)), classes, unplaced: all.filter((each) => !isShown(each.element)) };
}

function tokenBadges(marks: Marks, name: (element: string) => string): Badge[] {
  return marks.tokens
    .filter((each) => each.count > 0)
    .map(({ element, count }) => ({
      kind: "token", element, text: short(count), label: `${count} ${count === 1 ? "token" : "tokens"} at ${name(element)}`,
    })); // prettier-ignore
}

function completedBadges(marks: Marks, name: (element: string) => string): Badge[] {
  return marks.completed
    .filter((each) => each.count > 1)
    .map(({ element, count }) => ({ kind: "completed", element, text: `×${short(count)}`, label: `${name(element)} completed ${count} times` }));
}

function incidentBadges(marks: Marks, name: (element: string) => string): Badge[] {
  return [...grouped(marks.incidents, (each) => each.element)].map(([element, found]) => ({
    kind: "incident", element, text: found.length === 1 ? "!" : `${short(found.length)}!`,
    label: `Stuck at ${name(element)}: ${found.map((each) => each.text || each.code).join("; ")}`,
  })); // prettier-ignore
}

function findingBadges(marks: Marks, name: (element: string) => string): Badge[] {
  return [...grouped(marks.findings.filter((each) => each.element !== ""), (each) => each.element)].map(([element, found]) => ({
    kind: found.some((each) => each.severity === "error") ? "finding-error" : "finding-warning",
    element,
    text: found.map((each) => each.code).slice(0, 2).join(" ") + (found.length > 2 ? ` +${found.length - 2}` : ""),
    label: `${name(element)}: ${found.map((each) => `${each.code} ${each.fact}`).join("; ")}`,
  })); // prettier-ignore
}

function grouped<T>(all: readonly T[], key: (one: T) => string): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const one of all) found.set(key(one), [...(found.get(key(one)) ?? []), one]);
  return found;
}

function short(count: number): string {
  return count < 1000 ? String(count) : `${Math.floor(count / 1000)}k`;
}

/** Marks without the element of each token: what changed between two moments, for those who cannot see the picture. */
export function saidOf(marks: Marks, name: (element: string) => string): string {
  const active = marks.tokens.filter((each) => each.count > 0).map((each) => (each.count === 1 ? name(each.element) : `${name(each.element)} (${each.count})`));
  const stuck = [...new Set(marks.incidents.map((each) => name(each.element)))];
  const parts = [active.length > 0 ? `Tokens at ${active.join(", ")}.` : "No tokens."];
  if (stuck.length > 0) parts.push(`Stuck at ${stuck.join(", ")}.`);
  return parts.join(" ");
}
