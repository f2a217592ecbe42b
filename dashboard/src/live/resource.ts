// A value of the server on a page: loading, error, data, read again when an event says that it changed.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Problem } from "../api/client";
import type { LiveEvent } from "../api/shapes";
import { liveSince, liveState, onEvent } from "./event-stream";

export interface Resource<T> {
  data: T | undefined;
  error: Problem | undefined;
  isLoading: boolean;
  /** Reads again now. */
  reload: () => void;
  /** Puts in what an act answered with, before the event of it arrives. */
  replace: (data: T) => void;
}

const SETTLE_MS = 120;

/** Loads when `dependencies` change, and again, at most once in `settleMs`, when `concerns` says so of a live event. */
export function useResource<T>(
  load: (signal: AbortSignal) => Promise<T>, dependencies: readonly unknown[], concerns?: (event: LiveEvent, data: T | undefined) => boolean,
  settleMs = SETTLE_MS,
): Resource<T> {
  const [state, setState] = useState<{ data?: T; error?: Problem; isLoading: boolean }>({ isLoading: true });
  const latest = useRef({ load, concerns, data: state.data });
  latest.current = { load, concerns, data: state.data };
  const running = useRef<AbortController | null>(null);
  const again = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const isStale = useRef(false);

  const read = useCallback(async () => {
    if (running.current) {
      isStale.current = true;
      return;
    }
    const mine = new AbortController();
    running.current = mine;
    isStale.current = false;
    try {
      const data = await latest.current.load(mine.signal);
      if (!mine.signal.aborted) setState({ data, isLoading: false });
    } catch (error) {
      if (!mine.signal.aborted) setState((before) => ({ ...before, error: asProblem(error), isLoading: false }));
    }
    if (running.current !== mine) return;
    running.current = null;
    if (isStale.current) soon();
  }, []);
  const soon = useCallback(() => {
    if (again.current !== undefined) return;
    again.current = setTimeout(() => {
      again.current = undefined;
      void read();
    }, settleMs);
  }, []);

  useEffect(() => {
    setState({ isLoading: true });
    void read();
    return () => {
      running.current?.abort();
      running.current = null;
      clearTimeout(again.current);
      again.current = undefined;
    };
  }, dependencies);

  useEffect(() => {
    const stop = onEvent((event) => {
      if (latest.current.concerns?.(event, latest.current.data)) soon();
    });
    const first = liveSince.peek();
    const stopSince = liveSince.subscribe((count) => count !== first && soon());
    // What failed while the server was away is tried again once it is back.
    const stopState = liveState.subscribe((now) => now === "live" && isStuck() && soon());
    return () => {
      stop();
      stopSince();
      stopState();
    };
  }, []);
  const stuck = useRef(false);
  stuck.current = state.error !== undefined && (state.error.status === 0 || state.error.status >= 500);
  const isStuck = () => stuck.current;

  const replace = useCallback((data: T) => setState({ data, isLoading: false }), []);
  return { data: state.data, error: state.error, isLoading: state.isLoading, reload: () => void read(), replace };
}

export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem(0, "dashboard.fault", "Something went wrong on this page", error instanceof Error ? error.message : String(error));
}
