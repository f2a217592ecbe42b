"""What one child process is asked to do, and the loop that drives it."""

from __future__ import annotations

import asyncio
import itertools
import math
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any, Literal

import msgspec

Store = Literal["sqlite", "postgres"]
Payload = Literal["empty", "rich"]
Sample = dict[str, Any]


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """One run of one contender: bounded by `count` and by `seconds`, whichever ends first."""

    contender: str
    workload: str
    store: Store
    url: str
    concurrency: int = 1
    count: int = 1000
    seconds: float = 2.0
    payload: Payload = "empty"
    mode: str = ""
    acknowledged: str | None = None
    until_killed: bool = False
    started_at: float = 0.0
    definitions: int = 1


class Durability(msgspec.Struct, frozen=True):
    """The settings read back from the contender's live connection."""

    journal: str
    synchronous: str


EQUAL_DURABILITY = {
    "sqlite": Durability(journal="wal", synchronous="2"),
    "postgres": Durability(journal="fsync=on", synchronous="on"),
}


def require_durability(store: Store, found: Durability) -> None:
    """A run on weaker settings is no run: figures without fsync look great and mean nothing."""
    wanted = EQUAL_DURABILITY[store]
    if found != wanted:
        raise SystemExit(f"Expected to measure {store} with {wanted}, but the live connection has {found}.")


def payload_of(kind: Payload) -> dict[str, Any]:
    """`{}`, or about 2 KB of JSON with decimals."""
    if kind == "empty":
        return {}
    return {
        "reference": "position-report",
        "currency": "EUR",
        "positions": [
            {
                "instrument": f"XS{2_000_000_000 + number * 7919}",
                "quantity": 1000.25 + number * 37.5,
                "price": round(99.875 + number * 0.0625, 4),
                "weight": round(0.0123 * (number + 1), 6),
                "settled": number % 2 == 0,
            }
            for number in range(21)
        ],
    }


async def drive(load: Load, one: Callable[[int], Awaitable[None]]) -> Sample:
    """Keep `concurrency` runs of `one` in flight until the load's bound; the rate counts finished runs only."""
    numbers = itertools.count()
    await _drain(load.concurrency, one, itertools.islice(numbers, load.concurrency), math.inf)
    began = time.perf_counter()
    done = await _drain(load.concurrency, one, itertools.islice(numbers, load.count), began + load.seconds)
    elapsed = time.perf_counter() - began
    return {"runs": done, "seconds": elapsed, "runs_per_second": done / elapsed}


async def drain_all(concurrency: int, one: Callable[[int], Awaitable[None]], count: int) -> float:
    """Seconds it takes to finish all of `count` runs with `concurrency` in flight."""
    began = time.perf_counter()
    await _drain(concurrency, one, itertools.islice(itertools.count(), count), math.inf)
    return time.perf_counter() - began


async def _drain(
    concurrency: int, one: Callable[[int], Awaitable[None]], numbers: itertools.islice[int], until: float
) -> int:
    done = 0

    async def worker() -> None:
        nonlocal done
        for number in numbers:
            await one(number)
            done += 1
            if time.perf_counter() >= until:
                return

    async with asyncio.TaskGroup() as group:
        for _ in range(concurrency):
            group.create_task(worker())
    return done


def latencies(seconds: list[float]) -> Sample:
    """Percentiles in milliseconds."""
    ordered = sorted(seconds)
    return {
        "p50_ms": statistics.median(ordered) * 1000,
        "p95_ms": ordered[min(len(ordered) - 1, math.ceil(len(ordered) * 0.95) - 1)] * 1000,
        "p99_ms": ordered[min(len(ordered) - 1, math.ceil(len(ordered) * 0.99) - 1)] * 1000,
        "max_ms": ordered[-1] * 1000,
        "samples": len(ordered),
    }


def resident_bytes() -> int:
    """Resident memory of this process now (not its peak)."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * 4096
