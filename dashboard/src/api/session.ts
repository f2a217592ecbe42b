// Who is signed in, and how one signs in and out.
import { signal } from "@preact/signals";
import { get, post, Problem, remove, session } from "./client";
import type { Session } from "./shapes";

export const signInMethods = signal<string[]>([]);

/** Asks the server who we are; null when nobody is signed in. */
export async function restore(): Promise<Session | null> {
  try {
    session.value = await get<Session>("/session");
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 401) throw error;
    session.value = null;
    const offered = error.members["authentication"];
    signInMethods.value = Array.isArray(offered) ? offered.map(String) : [];
  }
  return session.value;
}

export async function signIn(key: string): Promise<void> {
  session.value = await post<Session>("/session", { key });
}

export async function signOut(): Promise<void> {
  await remove("/session");
  session.value = null;
}
