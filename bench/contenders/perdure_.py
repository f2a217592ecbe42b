"""Perdure through its public API with shipped defaults."""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Any

import msgspec

from bench.contenders.acknowledging import DEFINITIONS, Acknowledgements, keys_file, require, until_killed
from bench.load import Load, Sample, drain_all, drive, latencies, payload_of, resident_bytes
from bench.timeouts import TimeOuts
from bench.verify import acknowledged_ids
from perdure import Perdure
from perdure.app import WaitingFor

SIGNAL = {"ok": True}
WARM_UP_SIGNALS = 20
KEYS_KEPT = 2_000


def steps(load: Load) -> Sample:
    """Five recorded calls of a sync verb in sequence."""
    return asyncio.run(_steps(load))


def signals(load: Load) -> Sample:
    """`count` calls are parked, then every one is completed."""
    return asyncio.run(_signals(load))


def one_signal(load: Load) -> Sample:
    """From the completion to its acknowledgement, nothing else going on."""
    return asyncio.run(_one_signal(load))


def timers(load: Load) -> Sample:
    """Parked calls time out within `seconds`; lateness is from due to the effect seen after its commit."""
    return asyncio.run(_timers(load))


def park(load: Load) -> Sample:
    """Park `count` calls and keep a sample of their keys for the process that comes after."""
    return asyncio.run(_park(load))


def ready(load: Load) -> Sample:
    """After a restart: seconds from process start to the first signal done, then signals one at a time."""
    return asyncio.run(_ready(load))


def acknowledged(load: Load) -> Sample:
    """Look up every acknowledged id and compare its result with what was promised."""
    return asyncio.run(_acknowledged(load))


def _open(load: Load) -> AbstractAsyncContextManager[Perdure]:
    return Perdure.open(load.url, definitions=[DEFINITIONS], handlers=["bench.handlers"])


async def _steps(load: Load) -> Sample:
    arguments = {"payload": payload_of(load.payload)}
    kept = Acknowledgements(load.acknowledged)
    async with _open(load) as perdure:

        async def one(_: int) -> None:
            ids = []
            for _step in range(5):
                outcome = await perdure.call("bench.step", arguments)
                require(outcome.state == "completed", outcome)
                ids.append(outcome.id)
            kept.add(*ids)

        commits_before = _commits(perdure)
        sample = await drive(load, one)
        sample["steps_per_second"] = sample["runs_per_second"] * 5
        done = (sample["runs"] + load.concurrency) * 5
        sample["commits_per_step"] = (_commits(perdure) - commits_before) / done
        await until_killed(load, sample, one)
    return sample


async def _signals(load: Load) -> Sample:
    kept = Acknowledgements(load.acknowledged)
    parked: list[tuple[str, str]] = []
    async with _open(load) as perdure:

        async def wait(_: int) -> None:
            parked.append(await _wait(perdure))

        async def signal(number: int) -> None:
            await _signal(perdure, kept, *parked[number])

        async def both(_: int) -> None:
            await _signal(perdure, kept, *await _wait(perdure))

        parking = await drain_all(load.concurrency, wait, load.count)
        elapsed = await drain_all(load.concurrency, signal, load.count)
        sample = {"signals_per_second": load.count / elapsed, "parked_per_second": load.count / parking}
        await until_killed(load, sample, both)
    return sample


async def _one_signal(load: Load) -> Sample:
    kept = Acknowledgements(load.acknowledged)
    async with _open(load) as perdure:
        seconds = [await _timed_signal(perdure, kept, *await _wait(perdure)) for _ in range(load.count)]
        sample = latencies(seconds)

        async def both(_: int) -> None:
            await _signal(perdure, kept, *await _wait(perdure))

        await until_killed(load, sample, both)
    return sample


async def _park(load: Load) -> Sample:
    every = max(1, load.count // KEYS_KEPT)
    kept: list[tuple[str, str]] = []
    async with _open(load) as perdure:

        async def wait(number: int) -> None:
            parked = await _wait(perdure)
            if number % every == 0:
                kept.append(parked)

        elapsed = await drain_all(load.concurrency, wait, load.count)
        resident = resident_bytes()
    keys_file(load).write_bytes(msgspec.json.encode(kept))
    return {"resident_bytes": resident, "parked_per_second": load.count / elapsed}


async def _ready(load: Load) -> Sample:
    keys = msgspec.json.decode(keys_file(load).read_bytes(), type=list[tuple[str, str]])
    kept = Acknowledgements(load.acknowledged)
    async with _open(load) as perdure:
        await _signal(perdure, kept, *keys[0])
        ready_after = time.monotonic() - load.started_at
        for parked in keys[1:WARM_UP_SIGNALS]:
            await _signal(perdure, kept, *parked)
        measured = keys[WARM_UP_SIGNALS : WARM_UP_SIGNALS + load.count]
        sample = latencies([await _timed_signal(perdure, kept, *parked) for parked in measured])
        sample |= {"ready_seconds": ready_after, "resident_bytes": resident_bytes()}

        async def both(_: int) -> None:
            await _signal(perdure, kept, *await _wait(perdure))

        await until_killed(load, sample, both)
    return sample


async def _timers(load: Load) -> Sample:
    kept = Acknowledgements(load.acknowledged)
    watch = TimeOuts(load.count)
    async with _open(load) as perdure:
        # Listening is the one thing done behind the public API: a poll would measure itself.
        perdure.runtime.kernel.listen(watch.on_commit)

        async def park(number: int) -> None:
            # The calls are spread over the same seconds as the times they are due.
            await asyncio.sleep(max(0.0, began + load.seconds * number / load.count - time.time()))
            identifier, wait_for = await _parked(perdure, "bench.timer")
            watch.due[identifier] = datetime.fromisoformat(wait_for.due_at or "").timestamp()

        async def wait(_: int) -> None:
            await _wait(perdure)

        began = time.time()
        await drain_all(load.concurrency, park, load.count)
        await watch.until_all_fired()
        kept.add(*watch.fired())
        sample = watch.sample()
        await until_killed(load, sample, wait)
    return sample


async def _acknowledged(load: Load) -> Sample:
    ids = acknowledged_ids(load.acknowledged or "")
    state, result = _promised(load)
    missing: list[str] = []
    async with _open(load) as perdure:

        async def check(number: int) -> None:
            found = await perdure.status(ids[number])
            if found.state != state or found.result != result:
                missing.append(ids[number])

        await drain_all(64, check, len(ids))
    return {"checked": len(ids), "missing": len(missing), "first_missing": missing[:3]}


def _promised(load: Load) -> tuple[str, dict[str, Any] | None]:
    """What the caller was told, by the workload that told it."""
    match load.mode:
        case "steps":
            return "completed", {"payload": payload_of(load.payload)}
        case "timers":
            return "failed", None
        case _:
            return "completed", SIGNAL


async def _wait(perdure: Perdure) -> tuple[str, str]:
    identifier, wait_for = await _parked(perdure, "bench.wait")
    return identifier, wait_for.key


async def _parked(perdure: Perdure, verb: str) -> tuple[str, WaitingFor]:
    outcome = await perdure.call(verb, {})
    if outcome.state != "parked" or outcome.waiting_for is None:
        raise SystemExit(f"Expected to measure a parked call, but got {outcome!r}.")
    return outcome.id, outcome.waiting_for


async def _signal(perdure: Perdure, kept: Acknowledgements, identifier: str, key: str) -> None:
    done = await perdure.complete(key, result=SIGNAL)
    require(done.answer == "applied", done)
    kept.add(identifier)


async def _timed_signal(perdure: Perdure, kept: Acknowledgements, identifier: str, key: str) -> float:
    began = time.perf_counter()
    await _signal(perdure, kept, identifier, key)
    return time.perf_counter() - began


def _commits(perdure: Perdure) -> int:
    return int(perdure.metrics()["commits"])
