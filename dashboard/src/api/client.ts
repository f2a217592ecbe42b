// Requests to the server: JSON in and out, problems as errors, the CSRF token and an idempotency key on every act.
import { signal } from "@preact/signals";
import { readJson } from "./json";
import type { FieldError, Session } from "./shapes";

export const session = signal<Session | null>(null);

export class Problem extends Error {
  /** What to do next; empty where the sentence ends with it. */
  readonly hint: string;

  constructor(
    readonly status: number,
    readonly code: string,
    readonly title: string,
    detail: string,
    hint = "",
    readonly errors: FieldError[] = [],
    readonly members: Record<string, unknown> = {},
  ) {
    super(detail);
    this.hint = detail.endsWith(hint) ? "" : hint;
  }
}

export interface Answer<T> { data: T; etag: string }
export interface RequestOptions { query?: Record<string, string | number | boolean | null | undefined>; signal?: AbortSignal; etag?: string; key?: string }

export function mayDo(operation: string): boolean {
  return session.value?.may.includes(operation) ?? false;
}

export async function get<T>(path: string, options: RequestOptions = {}): Promise<T> {
  return (await ask<T>("GET", path, undefined, options)).data;
}

export async function getWithTag<T>(path: string, options: RequestOptions = {}): Promise<Answer<T>> {
  return ask<T>("GET", path, undefined, options);
}

/** Acts once, however often the network makes us ask: a repeated request carries the same idempotency key. */
export async function post<T>(path: string, body: unknown = {}, options: RequestOptions = {}): Promise<T> {
  return (await ask<T>("POST", path, body, { key: crypto.randomUUID(), ...options })).data;
}

export async function put<T>(path: string, body: unknown, options: RequestOptions = {}): Promise<Answer<T>> {
  return ask<T>("PUT", path, body, options);
}

export async function remove(path: string, options: RequestOptions = {}): Promise<void> {
  await ask("DELETE", path, undefined, options);
}

export function address(path: string, query: RequestOptions["query"] = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") search.set(name, String(value));
  }
  const text = search.toString();
  return `/api${path}${text ? `?${text}` : ""}`;
}

async function ask<T>(method: string, path: string, body: unknown, options: RequestOptions): Promise<Answer<T>> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (options.key) headers["Idempotency-Key"] = options.key;
  if (options.etag) headers["If-Match"] = options.etag;
  if (method !== "GET" && session.value?.csrf) headers["X-CSRF-Token"] = session.value.csrf;
  const init: RequestInit = { method, headers, credentials: "same-origin" };
  if (body !== undefined) init.body = JSON.stringify(body);
  if (options.signal) init.signal = options.signal;
  let response: Response;
  try {
    response = await fetch(address(path, options.query), init);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Problem(0, "server.unreachable", "The server does not answer", "The server could not be reached.", "It is tried again as soon as it is back.");
  }
  if (!response.ok) throw problemOf(response.status, response.statusText, await response.text());
  const data = response.status === 204 ? undefined : readJson(await response.text());
  return { data: data as T, etag: response.headers.get("ETag") ?? "" };
}

/** The problem that an answer tells. */
export function problemOf(status: number, words: string, body: string): Problem {
  let told: Record<string, unknown> = {};
  try {
    told = JSON.parse(body) as Record<string, unknown>;
  } catch {
    // A proxy's page instead of a problem: the status has to do.
  }
  const text = (name: string, otherwise: string) => (typeof told[name] === "string" ? (told[name] as string) : otherwise);
  if (status === 401) session.value = null;
  return new Problem(
    status, text("code", `http.${status}`), text("title", words || `Status ${status}`), text("detail", `The server answered with status ${status}.`), text("hint", ""),
    (told["errors"] as FieldError[] | undefined) ?? [], told,
  );
}
