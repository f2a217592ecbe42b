"""What is measured: each workload, who enters it and with which settings, and how large a run is."""

from __future__ import annotations

import itertools
from typing import Literal

import msgspec

from bench.load import Load, Payload, Store

CONCURRENCIES = (8, 32, 64)
AT_ONCE = 64


class Scale(msgspec.Struct, frozen=True, kw_only=True):
    """How much work a run is given; every number is a bound."""

    rounds: int
    seconds: float
    peer_signals: int
    own_signals: int
    single_signals: int
    parked_sqlite: int
    parked_postgres: int
    parked_few: int
    own_timers: int
    peer_timers: int
    child_seconds: float
    rounds_few: int
    rounds_many: int
    crowd_few: tuple[int, int]
    crowd_many: tuple[int, int]
    """Deployed definitions and parked instances."""
    cases_few: int = 1_000
    cases_many: int = 10_000
    """Lifecycle instances that wait, with ten documents each."""
    results: int = 500
    """Results of pending tasks through each door."""
    own_runbooks: int = 1_000
    peer_runbooks: int = 100
    steps: int = 5_000
    """Calls through the server, and as many without it."""
    streams: int = 2_000


QUICK = Scale(
    rounds=1,
    seconds=1.0,
    peer_signals=100,
    own_signals=2_000,
    single_signals=30,
    parked_sqlite=20_000,
    parked_postgres=20_000,
    parked_few=1_000,
    own_timers=2_000,
    peer_timers=100,
    child_seconds=300,
    rounds_few=200,
    rounds_many=2_000,
    crowd_few=(5, 200),
    crowd_many=(50, 5_000),
    steps=1_000,
    streams=200,
    cases_many=3_000,
    results=200,
)
FULL = Scale(
    rounds=3,
    seconds=2.0,
    peer_signals=300,
    own_signals=20_000,
    single_signals=150,
    parked_sqlite=1_000_000,
    parked_postgres=200_000,
    parked_few=1_000,
    own_timers=10_000,
    peer_timers=500,
    child_seconds=1800,
    rounds_few=1_000,
    rounds_many=10_000,
    crowd_few=(5, 1_000),
    crowd_many=(500, 200_000),
)


class Workload(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the report. `better` says which way the metric points."""

    name: str
    title: str
    function: Literal["steps", "signals", "one_signal", "timers", "process", "onboarding"]
    metric: str
    unit: str
    better: Literal["higher", "lower"]
    payload: Payload = "empty"
    alone: bool = False
    contenders: tuple[str, ...] = ("raw", "dbos", "langgraph", "perdure")

    def entered(self, store: Store) -> tuple[str, ...]:
        """Who enters it on a store: those who run processes save them to SQLite only."""
        return tuple(each for each in self.contenders if store == "sqlite" or each not in PROCESS_PEERS)


PROCESS_PEERS = (
    "spiff-every",
    *(f"{peer}-{when}" for peer in ("spiff", "bpmn-engine") for when in ("task", "wait", "memory")),
)
"""Engines of processes, by when they save: after every element, after every activity, only at waits, never."""

WORKLOADS = (
    Workload(
        name="steps",
        title="five steps in sequence, 64 at once, `{}`",
        function="steps",
        metric="steps_per_second",
        unit="steps/s",
        better="higher",
    ),
    Workload(
        name="steps-rich",
        title="five steps in sequence, 64 at once, 2 KB",
        function="steps",
        metric="steps_per_second",
        unit="steps/s",
        better="higher",
        payload="rich",
    ),
    Workload(
        name="steps-alone",
        title="five steps in sequence, one at a time, `{}`",
        function="steps",
        metric="steps_per_second",
        unit="steps/s",
        better="higher",
        alone=True,
    ),
    Workload(
        name="steps-alone-rich",
        title="five steps in sequence, one at a time, 2 KB",
        function="steps",
        metric="steps_per_second",
        unit="steps/s",
        better="higher",
        alone=True,
        payload="rich",
    ),
    Workload(
        name="signals",
        title="park and resume: signals completed",
        function="signals",
        metric="signals_per_second",
        unit="signals/s",
        better="higher",
    ),
    Workload(
        name="one-signal",
        title="one signal at a time, p50",
        function="one_signal",
        metric="p50_ms",
        unit="ms",
        better="lower",
        alone=True,
    ),
    Workload(
        name="timers",
        title="timers due within 5 seconds, p99 lateness",
        function="timers",
        metric="p99_ms",
        unit="ms",
        better="lower",
        contenders=("dbos", "perdure"),
    ),
    Workload(
        name="onboarding",
        title="onboarding: nine steps, four of them waiting, 64 at once",
        function="onboarding",
        metric="runbooks_per_second",
        unit="runbooks/s",
        better="higher",
        contenders=("dbos", "perdure"),
    ),
    Workload(
        name="process",
        title="process with two branches and a person's task, 64 at once",
        function="process",
        metric="instances_per_second",
        unit="instances/s",
        better="higher",
        contenders=(*PROCESS_PEERS, "perdure"),
    ),
    Workload(
        name="process-alone",
        title="the same process, one at a time",
        function="process",
        metric="instances_per_second",
        unit="instances/s",
        better="higher",
        alone=True,
        contenders=(*PROCESS_PEERS, "perdure"),
    ),
)


def loads(workload: Workload, contender: str, store: Store, scale: Scale) -> list[Load]:
    """Every setting a contender is tried with; its best counts."""
    settings = itertools.product(_modes(contender, workload), _concurrencies(contender, workload))
    return [
        Load(
            contender=contender,
            workload=workload.function,
            store=store,
            url="",
            concurrency=concurrency,
            mode=mode,
            payload=workload.payload,
            count=_count(contender, workload, scale),
            seconds=5.0 if workload.function == "timers" else scale.seconds,
        )
        for mode, concurrency in settings
    ]


def _modes(contender: str, workload: Workload) -> tuple[str, ...]:
    if contender in PROCESS_PEERS:
        return (contender.rpartition("-")[2],)
    has_threads = contender == "dbos" and workload.function not in ("timers", "onboarding")
    return ("coroutines", "threads") if has_threads else ("",)


def _concurrencies(contender: str, workload: Workload) -> tuple[int, ...]:
    if workload.alone or contender in PROCESS_PEERS:
        return (1,)
    return (AT_ONCE,) if contender in ("raw", "perdure") or workload.function == "timers" else CONCURRENCIES


def _count(contender: str, workload: Workload, scale: Scale) -> int:
    is_own = contender == "perdure"
    match workload.function:
        case "steps" | "process":
            return 200_000
        case "onboarding":
            return scale.own_runbooks if is_own else scale.peer_runbooks
        case "signals":
            return scale.own_signals if is_own else scale.peer_signals
        case "one_signal":
            return scale.single_signals
        case "timers":
            return scale.own_timers if is_own else scale.peer_timers
