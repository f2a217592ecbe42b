"""Documents and lifecycles through the public API: how long a case waits for its paper, and how a paper is found."""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import msgspec

from bench.contenders.acknowledging import DEFINITIONS, Acknowledgements, keys_file, require, until_killed
from bench.load import Load, Sample, drain_all, latencies, resident_bytes
from bench.verify import acknowledged_ids
from perdure import Perdure
from perdure.identifiers import id_text
from perdure.kernel.kernel import Aggregate

LIFECYCLES = Path(__file__).resolve().parent.parent / "lifecycles"
WARM_UP = 20
CITIES = ("Lisbon", "Oslo", "Graz", "Turin", "Cork", "Ghent", "Tartu", "Brno")


def papers(load: Load) -> Sample:
    """Start `count` cases that wait for a paper each, and write ten papers for every case."""
    return asyncio.run(_papers(load))


def awaited(load: Load) -> Sample:
    """Among those that wait: papers are verified one at a time, and searched for."""
    return asyncio.run(_awaited(load))


def acknowledged(load: Load) -> Sample:
    """Look up every case that was seen to move: it must have."""
    return asyncio.run(_acknowledged(load))


def opened(load: Load) -> AbstractAsyncContextManager[Perdure]:
    return Perdure.open(
        load.url, definitions=[DEFINITIONS], handlers=["bench.handlers"], lifecycles=[LIFECYCLES],
        blobs=Path(f"{load.acknowledged}.blobs"), seal_every_seconds=1.0,
    )  # fmt: skip


async def _papers(load: Load) -> Sample:
    kept: dict[int, tuple[str, str]] = {}
    cases: dict[int, str] = {}
    async with opened(load) as perdure:

        async def case(number: int) -> None:
            begun = await perdure.lifecycles.start("bench_case", f"client-{number}")
            cases[number] = begun.instance.id

        async def paper(number: int) -> None:
            """Every tenth is what a case waits for, the others lie beside it."""
            client, place = divmod(number, 10)
            kind = "bench_form" if place == 0 else "bench_letter"
            data = {"title": f"letter {number} of client {client}", "city": CITIES[number % len(CITIES)]}
            made = await perdure.documents.create(kind, f"client-{client}", data=data)
            if place == 0 and len(kept) < 2_000:
                kept[client] = (cases[client], made.id)

        await drain_all(load.concurrency, case, load.count)
        elapsed = await drain_all(load.concurrency, paper, load.count * 10)
    keys_file(load).write_bytes(msgspec.json.encode(list(kept.values())))
    return {"resident_bytes": resident_bytes(), "documents_per_second": load.count * 10 / elapsed}


async def _awaited(load: Load) -> Sample:
    pairs = msgspec.json.decode(keys_file(load).read_bytes(), type=list[tuple[str, str]])
    kept = Acknowledgements(load.acknowledged)
    async with opened(load) as perdure:
        moves = Moves(perdure)

        async def one(number: int) -> float:
            case, document = pairs[number]
            return await moves.verified(case, document, kept)

        async def search(number: int) -> float:
            began = time.perf_counter()
            found = await perdure.documents.find(text=f"{CITIES[number % len(CITIES)]} client", limit=20)
            require(len(found) == 20, found)
            return time.perf_counter() - began

        for number in range(WARM_UP):
            await one(number)
        measured = [await one(WARM_UP + number) for number in range(load.count)]
        searched = [await search(number) for number in range(load.count)]
        sample: Sample = {"move": latencies(measured), "search": latencies(searched)}
        sample["resident_bytes"] = resident_bytes()

        async def more(number: int) -> None:
            await one(WARM_UP + load.count + number)

        await until_killed(load, sample, more)
    return sample


class Moves:
    """Hears of cases that moved, once that is durable."""

    def __init__(self, perdure: Perdure) -> None:
        self._perdure = perdure
        self._waiting: dict[str, asyncio.Future[None]] = {}
        perdure.runtime.kernel.listen(self._hear, "lifecycle")

    async def verified(self, case: str, document: str, kept: Acknowledgements) -> float:
        """Seconds from asking for the verification to the move of the case that waited for it."""
        moved = self._waiting[case] = asyncio.get_running_loop().create_future()
        began = time.perf_counter()
        await self._perdure.documents.verify(document, 1)
        await moved
        seconds = time.perf_counter() - began
        kept.add(case)
        return seconds

    def _hear(self, aggregate: Aggregate, entries: object) -> None:
        if aggregate.state.state == "DONE" and (moved := self._waiting.pop(id_text(aggregate.id), None)) is not None:
            moved.set_result(None)


async def _acknowledged(load: Load) -> Sample:
    ids = acknowledged_ids(load.acknowledged or "")
    missing: list[str] = []
    async with opened(load) as perdure:

        async def check(number: int) -> None:
            if (await perdure.lifecycles.get(ids[number])).state != "DONE":
                missing.append(ids[number])

        await drain_all(64, check, len(ids))
    return {"checked": len(ids), "missing": len(missing), "first_missing": missing[:3]}
