// One stream of events for the whole page: connects, resumes after its cursor, tells pages what changed.
import { signal } from "@preact/signals";
import { session } from "../api/client";
import type { LiveEvent } from "../api/shapes";
import { backoff, SentParser } from "./sse-parser";

export type LiveState = "connecting" | "live" | "reconnecting" | "paused";
type Listener = (event: LiveEvent) => void;

export const liveState = signal<LiveState>("connecting");
/** Counts first connections: whatever was read before one may have missed something and reads again. */
export const liveSince = signal(0);

const HIDDEN_MS = 5_000;
const SILENT_MS = 45_000;
const listeners = new Set<Listener>();
let cursor = "";
let attempt = 0;
let current: AbortController | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;

export function onEvent(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Begins to listen. A page nobody looks at lets go of its connection, because browsers allow only a few to a server. */
export function listen(): void {
  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(pause, HIDDEN_MS);
    else if (liveState.value === "paused") connectSoon(0);
  });
  window.addEventListener("online", () => connectSoon(0));
  session.subscribe((now) => (now ? connectSoon(0) : current?.abort()));
}

function pause(): void {
  liveState.value = "paused";
  current?.abort();
}

function connectSoon(delay: number): void {
  clearTimeout(timer);
  timer = setTimeout(() => void connect(), delay);
}

async function connect(): Promise<void> {
  current?.abort();
  if (!session.value) return;
  const mine = new AbortController();
  current = mine;
  try {
    await read(mine);
  } catch {
    // Whatever ended it, we come back.
  }
  if (current !== mine || liveState.value === "paused") return;
  if (!session.value) return;
  liveState.value = "reconnecting";
  connectSoon(backoff(attempt++, Math.random()));
}

async function read(mine: AbortController): Promise<void> {
  const headers: Record<string, string> = { Accept: "text/event-stream" };
  if (cursor) headers["Last-Event-ID"] = cursor;
  const response = await fetch(`/api/events${cursor ? `?after=${encodeURIComponent(cursor)}` : ""}`, {
    headers, signal: mine.signal, credentials: "same-origin", cache: "no-store",
  });
  if (response.status === 401) session.value = null;
  if (!response.ok || !response.body) throw new Error(String(response.status));
  opened();
  const parser = new SentParser();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    // The server speaks at least every 15 seconds; silence means a dead connection that nobody told us of.
    const silence = setTimeout(() => mine.abort(), SILENT_MS);
    const { done, value } = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    // A stream that has sent as much as one may says so and ends; we come back from where it was.
    for (const sent of parser.push(value)) if (sent.event !== "stream.bounded") deliver(sent.id, sent.data);
  }
}

function opened(): void {
  attempt = 0;
  liveState.value = "live";
  if (!cursor) liveSince.value += 1;
}

function deliver(id: string, data: string): void {
  const event = JSON.parse(data) as LiveEvent;
  cursor = id || event.cursor;
  for (const listener of [...listeners]) listener(event);
}
