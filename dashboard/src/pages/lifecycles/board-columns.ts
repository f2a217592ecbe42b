// The columns of the board: states of the latest version in their order, then states that only older versions have. Pure.
import type { LifecycleVersionView, StateView } from "../../api/paper-shapes";

export interface BoardState extends StateView { isFormer: boolean }

export function namesOf(versions: readonly LifecycleVersionView[]): string[] {
  return [...new Set(versions.map((each) => each.lifecycle))].sort();
}

export function statesOf(versions: readonly LifecycleVersionView[]): BoardState[] {
  const newest = [...versions].sort((one, other) => Number(other.is_latest) - Number(one.is_latest) || other.version - one.version);
  const found = new Map<string, BoardState>();
  for (const [place, version] of newest.entries()) {
    for (const state of version.states) if (!found.has(state.name)) found.set(state.name, { ...state, isFormer: place > 0 });
  }
  return [...found.values()];
}

/** Every requirement that an instance can be blocked by. */
export function blockersOf(versions: readonly LifecycleVersionView[]): string[] {
  return [...new Set(versions.flatMap((each) => each.states.flatMap((state) => state.requirements)))].sort();
}
