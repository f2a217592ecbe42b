// The journal of an instance as positions of a slider: one for each record, none for the entries within it.

export interface JournalEntry {
  sequence: number;
  at: string | null;
  entry: string;
  command: string;
  principal: string;
  data: { [name: string]: unknown };
}

export interface Position {
  sequence: number;
  at: string | null;
  /** What happened there, in a few words, the weightiest first. */
  text: string;
  elements: string[];
  isIncident: boolean;
}

// The weightiest entry of a record names it; what moves tokens about is told only when nothing else happened.
const WEIGHT: { [entry: string]: number } = {
  IncidentRaised: 9, InstanceStarted: 8, InstanceEnded: 8, InstanceSuspended: 8, InstanceResumed: 8, InstanceModified: 8, InstanceMigrated: 8,
  CancelRequested: 8, CompensationStarted: 8, PayloadErased: 8, IncidentResolved: 7, TaskCompleted: 7, TaskOverridden: 7, TaskClaimed: 6,
  TaskReassigned: 6, TaskDelegated: 6, TaskChased: 6, ErrorThrown: 6, JobFailed: 6, JobCompleted: 5, ProgressPosted: 5, Occurred: 5, TaskOpened: 4,
  Thrown: 4, Armed: 1, Disarmed: 0, JobMade: 2, JobStarted: 2, Entered: 1, Passed: 1, Left: 0, HeadChanged: 0, FlagsWritten: 1, Completed: 0,
}; // prettier-ignore
const WATCHES = new Set(["Armed", "Disarmed", "Occurred", "WatchMet"]);

/** Positions in the order of the journal; entries that arrive later extend them. */
export function positionsOf(entries: readonly JournalEntry[], name: (element: string) => string): Position[] {
  const standing = new Map<string, string>();
  const bySequence = new Map<number, JournalEntry[]>();
  for (const entry of entries) bySequence.set(entry.sequence, [...(bySequence.get(entry.sequence) ?? []), entry]);
  return [...bySequence.entries()].sort(([one], [other]) => one - other).map(([sequence, record]) => positionOf(sequence, record, standing, name));
}

function positionOf(sequence: number, record: JournalEntry[], standing: Map<string, string>, name: (element: string) => string): Position {
  const elements = new Set<string>();
  const told = record.map((entry) => {
    const element = elementOf(entry, standing);
    if (element !== "") elements.add(element);
    return { weight: WEIGHT[entry.entry] ?? 3, text: sentenceOf(entry, element === "" ? "" : name(element)) };
  });
  const weightiest = told.reduce((best, each) => (each.weight > best.weight ? each : best), { weight: -1, text: "" });
  return {
    sequence,
    at: record[0]?.at ?? null,
    text: weightiest.text,
    elements: [...elements],
    isIncident: record.some((entry) => entry.entry === "IncidentRaised"),
  };
}

/** Where an entry happened; tokens and waits are known by the numbers they got when they came to be. */
function elementOf(entry: JournalEntry, standing: Map<string, string>): string {
  const { element, event, number } = entry.data;
  const key = `${WATCHES.has(entry.entry) ? "watch" : "token"} ${String(number)}`;
  const told = typeof element === "string" ? element : typeof event === "string" ? event : "";
  if (told !== "" && (entry.entry === "Entered" || entry.entry === "Armed")) standing.set(key, told);
  return told || (standing.get(key) ?? "");
}

/** An entry in words: `JobCompleted` at "Create the case" is "completed: Create the case". */
export function sentenceOf(entry: JournalEntry, where: string): string {
  const text = (name: string): string => (typeof entry.data[name] === "string" ? (entry.data[name] as string) : "");
  const at = where === "" ? "" : `: ${where}`;
  switch (entry.entry) {
    case "InstanceEnded":
      return `Ended: ${text("status").replaceAll("_", " ")}`;
    case "TaskClaimed":
      return text("by") === "" ? `Given back${at}` : `Claimed by ${text("by")}${at}`;
    case "TaskCompleted":
      return `Answered by ${text("by")}${at}`;
    case "TaskDelegated":
    case "TaskReassigned":
      return `Handed to ${text("to") || text("groups")} by ${text("by")}${at}`;
    case "ProgressPosted":
      return `Progress: ${text("text")}`;
    default:
      return `${SAID[entry.entry] ?? wordsOf(entry.entry)}${at}`;
  }
}

const SAID: { [entry: string]: string } = {
  InstanceStarted: "Started", Entered: "Reached", Passed: "Passed", Left: "Left", JobMade: "Ready for a worker", JobStarted: "Began",
  JobCompleted: "Completed", JobFailed: "An attempt failed", JobDiscarded: "A late report was set aside", IncidentRaised: "Stuck",
  IncidentResolved: "Incident resolved", TaskOpened: "A person is asked", TaskChased: "Nobody answered in time", TaskOverridden: "An administrator acts",
  FlagsWritten: "Flags set", HeadChanged: "Data changed", Armed: "Waits", Disarmed: "Waits no longer", Occurred: "Happened", WatchMet: "Happened",
  Thrown: "Sent", ErrorThrown: "An error was raised", Iterated: "Repeats", Completed: "Can be undone", Undoing: "Is being undone",
  CompensationStarted: "Everything is being undone", InstanceSuspended: "Suspended", InstanceResumed: "Resumed", InstanceModified: "Changed by hand",
  InstanceMigrated: "Moved to another version", CancelRequested: "Cancelling", PayloadErased: "Data erased", MessageIgnored: "Arrived too late",
  AgentUsed: "An agent worked", Interrupted: "Interrupted",
}; // prettier-ignore

/** `FlagsWritten` as words: "flags written". */
export function wordsOf(entry: string): string {
  const words = entry.replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Where the slider stands for a sequence: the last position at or before it. */
export function indexAt(positions: readonly Position[], sequence: number | null): number {
  if (sequence === null) return positions.length - 1;
  let low = 0;
  let high = positions.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((positions[middle]?.sequence ?? 0) <= sequence) low = middle;
    else high = middle - 1;
  }
  return high < 0 ? -1 : low;
}
