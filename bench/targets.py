"""What was promised, and whether a run kept it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from bench.load import Store
from bench.results import Results, figure, kept, ratio, worst
from bench.workloads import WORKLOADS


class Target(msgspec.Struct, frozen=True):
    """A bound on a ratio of ours to a peer's figure in one workload."""

    workload: str
    store: Store
    peer: str
    sense: Literal["at least", "at most"]
    bound: float


class Verdict(msgspec.Struct, frozen=True):
    """One line of the closing table; `measured` is none where nothing was measured."""

    what: str
    target: str
    measured: str | None
    met: bool | None


RATIOS = (
    Target("steps", "sqlite", "dbos", "at least", 15),
    Target("steps", "postgres", "dbos", "at least", 20),
    Target("steps-rich", "sqlite", "dbos", "at least", 10),
    Target("steps-rich", "postgres", "dbos", "at least", 10),
    Target("steps-alone", "sqlite", "dbos", "at least", 3),
    Target("steps-alone", "postgres", "dbos", "at least", 3),
    Target("signals", "sqlite", "dbos", "at least", 30),
    Target("signals", "postgres", "dbos", "at least", 30),
    Target("one-signal", "sqlite", "langgraph", "at most", 1 / 3),
    Target("one-signal", "postgres", "langgraph", "at most", 1 / 2),
    Target("onboarding", "sqlite", "dbos", "at least", 20),
    Target("onboarding", "postgres", "dbos", "at least", 20),
    # "After every task" is read both ways: what SpiffWorkflow calls a task, and, harder, wherever we commit.
    Target("process", "sqlite", "spiff-every", "at least", 15),
    Target("process", "sqlite", "spiff-task", "at least", 15),
    Target("process", "sqlite", "spiff-wait", "at least", 5),
    Target("process", "sqlite", "spiff-memory", "at least", 1.5),
    Target("process", "sqlite", "bpmn-engine-task", "at least", 30),
)
COMMITS_PER_STEP = 1.2
TIMER_P99_MS = 50
LOOP_BOUNDS = (
    ("time_ratio", "time per round against that of a short one", 1.25, "x"),
    ("state_ratio", "bytes of state against that of a short one", 1.1, "x"),
    ("memory_more_mb", "resident memory above that of a short one", 40.0, "MB"),
)
CROWD_BOUNDS = (
    ("start_ratio", "a start against that among few", 1.5, "x"),
    ("message_ratio", "a message against that among few", 1.5, "x"),
)
PAPER_BOUNDS = (
    ("move_ms", "from a verification to the move of the case that waited, p50", 10.0, "ms"),
    ("move_ratio", "the same against few", 1.5, "x"),
)
SERVING_BOUNDS: tuple[tuple[str, str, float, str, Literal["at least", "at most"]], ...] = (
    (
        "calls_ratio",
        "calls per second through HTTP against the Python API, one core each",
        0.4,
        "x",
        "at least",
    ),
    ("status_ratio", "p99 of status while calls saturate the server, against idle", 5.0, "x", "at most"),
    ("streams_more_mb", "memory that grows while all streams are told more", 16.0, "MB", "at most"),
)
PARKED_BYTES: dict[str, int] = {"sqlite": 1_000, "postgres": 2_500}
PARKED_BOUNDS = (
    ("memory_more_mb", "resident memory above that with a thousand", 60.0, "MB"),
    ("ready_seconds", "from process start to the first signal done", 2.0, "s"),
    ("latency_ratio", "latency of a signal against that with a thousand", 2.0, "x"),
)


def verdicts(results: Results) -> list[Verdict]:
    """Every target of the stores that were run."""
    stores = [store for store in ("sqlite", "postgres") if store in results.machine]
    found = [_ratio(results, target) for target in RATIOS if target.store in stores]
    for store in stores:
        found.append(_commits(results, store))
        found.extend(_timers(results, store))
        found.extend(_parked(results, store))
        found.extend(_loops(results, store))
        found.extend(_crowds(results, store))
        found.extend(_servings(results, store))
        found.extend(_papers(results, store))
        found.append(_kept(results, store))
    return found


def _ratio(results: Results, target: Target) -> Verdict:
    workload = next(one for one in WORKLOADS if one.name == target.workload)
    ours = figure(results.records, workload, target.store, "perdure")
    peer = figure(results.records, workload, target.store, target.peer)
    found = ratio(ours, peer)
    what = f"{workload.title}, {target.store}, against {target.peer}"
    return _bounded(what, found, target.bound, "x", target.sense)


def _commits(results: Results, store: Store) -> Verdict:
    found = worst(results.records, "steps-alone", store, "perdure", "commits_per_step")
    return _bounded(f"commits per step, one at a time, {store}", found, COMMITS_PER_STEP, "")


def _timers(results: Results, store: Store) -> Iterator[Verdict]:
    for field, what, bound, unit in (
        ("p99_ms", "p99 lateness of timers", TIMER_P99_MS, "ms"),
        ("early", "timers fired early", 0, ""),
        ("lost", "timers lost", 0, ""),
    ):
        yield _bounded(f"{what}, {store}", worst(results.records, "timers", store, "perdure", field), bound, unit)


def _parked(results: Results, store: Store) -> Iterator[Verdict]:
    found: dict[str, Any] = next((one for one in results.parked if one["store"] == store), {})
    title = f"{found.get('many_count', 0):,} parked, {store}"
    for field, what, bound, unit in PARKED_BOUNDS:
        yield _bounded(f"{title}: {what}", found.get(field), bound, unit)
    yield _bounded(f"{title}: bytes per call", found.get("bytes_per_parked"), PARKED_BYTES[store], "bytes")


def _loops(results: Results, store: Store) -> Iterator[Verdict]:
    found: dict[str, Any] = next((one for one in results.loops if one["store"] == store), {})
    title = f"loop of {found.get('many', {}).get('rounds', 0):,} rounds, {store}"
    for field, what, bound, unit in LOOP_BOUNDS:
        yield _bounded(f"{title}: {what}", found.get(field), bound, unit)


def _crowds(results: Results, store: Store) -> Iterator[Verdict]:
    found: dict[str, Any] = next((one for one in results.crowds if one["store"] == store), {})
    many = found.get("many", {})
    title = f"{many.get('definitions', 0):,} definitions, {many.get('count', 0):,} parked instances, {store}"
    for field, what, bound, unit in CROWD_BOUNDS:
        yield _bounded(f"{title}: {what}", found.get(field), bound, unit)


def _servings(results: Results, store: Store) -> Iterator[Verdict]:
    found: dict[str, Any] = next((one for one in results.servings if one["store"] == store), {})
    for field, what, bound, unit, sense in SERVING_BOUNDS:
        yield _bounded(f"server, {store}: {what}", found.get(field), bound, unit, sense)


def _papers(results: Results, store: Store) -> Iterator[Verdict]:
    found: dict[str, Any] = next((one for one in results.papers if one["store"] == store), {})
    many = found.get("many", {})
    title = f"{many.get('documents', 0):,} documents, {many.get('cases', 0):,} waiting cases, {store}"
    for field, what, bound, unit in PAPER_BOUNDS:
        yield _bounded(f"{title}: {what}", found.get(field), bound, unit)


def _kept(results: Results, store: Store) -> Verdict:
    found = [one.verification for one in results.records if one.store == store and one.verification is not None]
    for one in (*results.parked, *results.loops, *results.crowds, *results.papers):
        sizes = (one.get("few"), one.get("many")) if one["store"] == store else ()
        found += [size["verification"] for size in sizes if size is not None and "verification" in size]
    total = kept(found)
    what = f"killed after each run: audit passes, every acknowledged result is there, {store}"
    if total is None:
        return Verdict(what, "always", None, None)
    said = f"{len(found)} kills, {total.checked - total.missing:,} of {total.checked:,} results there"
    return Verdict(what, "always", f"{said}, {total.audits_failed} audits failed", total.is_whole)


def _bounded(
    what: str, found: float | None, bound: float, unit: str, sense: Literal["at least", "at most"] = "at most"
) -> Verdict:
    target = f"{sense} {_number(bound, unit)}"
    if found is None:
        return Verdict(what, target, None, None)
    met = found >= bound if sense == "at least" else found <= bound
    return Verdict(what, target, _number(found, unit), met)


def _number(value: float, unit: str) -> str:
    shown = f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:,.2f}"
    return f"{shown}x" if unit == "x" else f"{shown} {unit}".strip()
