"""Perdure's processes through its public API with shipped defaults."""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import msgspec

from bench.contenders.acknowledging import DEFINITIONS, Acknowledgements, keys_file, require, until_killed
from bench.load import Load, Sample, drain_all, drive, latencies, resident_bytes
from bench.verify import acknowledged_ids
from perdure import Perdure
from perdure.app.instances.views import InstanceView
from perdure.journal import Origin

HERE = Path(__file__).resolve().parent.parent
PROCESSES = HERE / "processes"
WARM_UP = 20
WARM_UP_ROUNDS = 200
KEYS_KEPT = 2_000


def process(load: Load) -> Sample:
    """Instances from start to end with a person's task in the middle, completed as soon as it is open."""
    return asyncio.run(_process(load))


def loop(load: Load) -> Sample:
    """One instance that goes round `count` times, each round a job with a payload of its own."""
    return asyncio.run(_loop(load))


def crowd(load: Load) -> Sample:
    """Deploy definitions and park `count` instances of them, each waiting for a message under its own key."""
    return asyncio.run(_crowd(load))


def crowded(load: Load) -> Sample:
    """Among those that wait: starts and messages, one at a time."""
    return asyncio.run(_crowded(load))


def acknowledged(load: Load) -> Sample:
    """Look up every acknowledged instance: it must have completed."""
    return asyncio.run(_acknowledged(load))


def opened(load: Load, models: Path | None = PROCESSES) -> AbstractAsyncContextManager[Perdure]:
    given = [models] if models is not None else []
    # Seals are written every second instead of every minute, so that their cost falls into the time measured.
    return Perdure.open(
        load.url, definitions=[DEFINITIONS], models=given, handlers=["bench.handlers"], seal_every_seconds=1.0
    )


async def _process(load: Load) -> Sample:
    kept = Acknowledgements(load.acknowledged)
    async with opened(load) as perdure:

        async def one(number: int) -> None:
            view = await perdure.instances.start("bench", {"reference": f"order {number}"}, until="rest")
            require(view.waits[0].kind == "task", view)
            key = f"{view.id}:{view.tokens[0].number}"
            done = await perdure.tasks.complete(key, {"approved": True}, until="end")
            require(isinstance(done, InstanceView) and done.state == "completed" and len(done.completed) == 4, done)
            kept.add(view.id)

        commits, began = perdure.metrics()["commits"], time.process_time()
        sample = await drive(load, one)
        done = sample["runs"] + load.concurrency
        sample["instances_per_second"] = sample.pop("runs_per_second")
        sample["cpu_ms_per_instance"] = (time.process_time() - began) * 1000 / done
        sample["commits_per_instance"] = (perdure.metrics()["commits"] - commits) / done
        await until_killed(load, sample, one)
    return sample


async def _loop(load: Load) -> Sample:
    kept = Acknowledgements(load.acknowledged)
    async with opened(load) as perdure:

        async def rounds(count: int) -> str:
            view = await perdure.instances.start("rounds", {"round": 0, "rounds": count}, until="end")
            require(view.state == "completed" and view.data["round"] == count, view.state)
            kept.add(view.id)
            return view.id

        await rounds(WARM_UP_ROUNDS)
        resident, began, cpu = resident_bytes(), time.perf_counter(), time.process_time()
        identifier = await rounds(load.count)
        seconds = time.perf_counter() - began
        sample = {
            "rounds": load.count,
            "seconds": seconds,
            "ms_per_round": seconds * 1000 / load.count,
            "cpu_ms_per_round": (time.process_time() - cpu) * 1000 / load.count,
            "resident_more_bytes": resident_bytes() - resident,
            "state_bytes": await _state_bytes(perdure, identifier),
        }

        async def one(_: int) -> None:
            await rounds(10)

        await until_killed(load, sample, one)
    return sample


async def _state_bytes(perdure: Perdure, identifier: str) -> int:
    """What the instance itself weighs: its state without its history."""
    aggregate = await perdure.runtime.engine.read(identifier, Origin())
    return len(perdure.runtime.machines["instance"].encode(aggregate.state))


async def _crowd(load: Load) -> Sample:
    every = max(1, load.count // KEYS_KEPT)
    kept: list[str] = []
    async with opened(load, None) as perdure:
        for number in range(load.definitions):
            await perdure.processes.deploy(_crowd_model(load, number))

        async def wait(number: int) -> None:
            view = await perdure.instances.start(_name(load, number), flags={"orch_key": f"key-{number}"})
            require(view.waits[0].kind == "message", view)
            if number % every == 0:
                kept.append(f"{view.id} key-{number}")

        elapsed = await drain_all(load.concurrency, wait, load.count)
    keys_file(load).write_bytes(msgspec.json.encode(kept))
    return {"resident_bytes": resident_bytes(), "parked_per_second": load.count / elapsed}


async def _crowded(load: Load) -> Sample:
    keys = [each.split() for each in msgspec.json.decode(keys_file(load).read_bytes(), type=list[str])]
    kept = Acknowledgements(load.acknowledged)
    async with opened(load, None) as perdure:

        async def start(number: int) -> float:
            began = time.perf_counter()
            view = await perdure.instances.start(_name(load, number), flags={"orch_key": f"more-{number}"})
            require(view.state == "active", view)
            return time.perf_counter() - began

        async def send(identifier: str, key: str) -> float:
            began = time.perf_counter()
            outcome = await perdure.publish("go", key)
            require(outcome == "correlated", outcome)
            kept.add(identifier)
            return time.perf_counter() - began

        async def both(number: int) -> None:
            view = await perdure.instances.start(_name(load, number), flags={"orch_key": f"last-{number}"})
            await send(view.id, f"last-{number}")

        # Plans are loaded when they are first needed; what is measured is life after that.
        for number in range(max(WARM_UP, load.definitions)):
            await both(-1 - number)
        measured = keys[: load.count]
        starts = [await start(number) for number in range(load.count)]
        messages = [await send(identifier, key) for identifier, key in measured]
        sample: Sample = {"start": latencies(starts), "message": latencies(messages)}
        sample["resident_bytes"] = resident_bytes()
        await until_killed(load, sample, both)
    return sample


def _crowd_model(load: Load, number: int) -> Path:
    text = (HERE / "crowd.bpmn").read_text(encoding="utf-8")
    file = Path(f"{load.acknowledged}.bpmn")
    file.write_text(text.replace('id="crowd"', f'id="crowd-{number}"'), encoding="utf-8")
    return file


def _name(load: Load, number: int) -> str:
    return f"crowd-{number % load.definitions}"


async def _acknowledged(load: Load) -> Sample:
    ids = acknowledged_ids(load.acknowledged or "")
    missing: list[str] = []
    async with opened(load) as perdure:

        async def check(number: int) -> None:
            if (await perdure.instances.get(ids[number])).state != "completed":
                missing.append(ids[number])

        await drain_all(64, check, len(ids))
    return {"checked": len(ids), "missing": len(missing), "first_missing": missing[:3]}
