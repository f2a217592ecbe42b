// Reads a stream of server-sent events: bytes in, events out. (EventSource would need every event's name beforehand.)
export interface Sent { id: string; event: string; data: string }

export class SentParser {
  private rest = "";
  private id = "";
  private event = "";
  private data: string[] = [];

  /** What is complete after this piece of text, in order. */
  push(text: string): Sent[] {
    this.rest += text;
    const lines = this.rest.split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    const found: Sent[] = [];
    for (const line of lines) {
      const sent = this.line(line);
      if (sent) found.push(sent);
    }
    return found;
  }

  private line(line: string): Sent | null {
    if (line === "") return this.dispatch();
    if (line.startsWith(":")) return null;
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "id") this.id = value;
    else if (field === "event") this.event = value;
    else if (field === "data") this.data.push(value);
    return null;
  }

  private dispatch(): Sent | null {
    const sent = this.data.length ? { id: this.id, event: this.event, data: this.data.join("\n") } : null;
    this.event = "";
    this.data = [];
    return sent;
  }
}

/** How long to wait before attempt number n, in milliseconds: doubling up to 15 s, spread so that pages do not come together. */
export function backoff(attempt: number, chance: number): number {
  const ceiling = Math.min(15_000, 500 * 2 ** Math.min(attempt, 10));
  return Math.round(ceiling * (0.5 + chance / 2));
}
