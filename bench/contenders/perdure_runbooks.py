"""Perdure's runbooks through its public API with shipped defaults."""

from __future__ import annotations

import asyncio
import time

from bench.contenders.acknowledging import DEFINITIONS, Acknowledgements, require, until_killed
from bench.load import Load, Sample, drain_all
from bench.verify import acknowledged_ids
from perdure import Perdure

ONBOARDING = """
LET entity = EXEC bench.find(name: "Allianz")
LET tree = EXEC bench.research(entity: entity.id)
LET register = EXEC bench.research(entity: entity.id)
LET officers = EXEC bench.research(entity: entity.id)
LET papers = EXEC bench.wait() AFTER tree, register, officers
LET review = EXEC bench.wait() AFTER tree, register, officers
LET screening = EXEC bench.wait() AFTER tree, register, officers
LET agreement = EXEC bench.wait() AFTER tree, register, officers
LET decision = EXEC bench.research(entity: entity.id) AFTER papers, review, screening, agreement
"""
WAITS = (5, 6, 7, 8)
"""The steps that wait, by their numbers."""


def onboarding(load: Load) -> Sample:
    """`count` runbooks are started and left waiting for four people each, then every wait is ended."""
    return asyncio.run(_onboarding(load))


async def _onboarding(load: Load) -> Sample:
    parked: list[str] = []
    kept = Acknowledgements(load.acknowledged)
    async with Perdure.open(load.url, definitions=[DEFINITIONS], handlers=["bench.handlers"]) as perdure:
        plan = perdure.runbooks.compile(ONBOARDING)
        commits = perdure.runtime.driver.commits

        async def start(_: int) -> None:
            view = await perdure.runbooks.start(plan, wait=True)
            require(view.state == "parked", view)
            parked.append(view.id)

        async def finish(_: int) -> None:
            id = parked.pop()
            for step in WAITS:
                await perdure.complete(f"{id}:{step}", {"ok": True})
            view = await perdure.runbooks.wait(id)
            require(view.state == "completed", view)
            kept.add(id)

        async def one(_: int) -> None:
            await start(0)
            await finish(0)

        began = time.perf_counter()
        await drain_all(load.concurrency, start, load.count)
        await drain_all(load.concurrency, finish, load.count)
        elapsed = time.perf_counter() - began
        made = perdure.runtime.driver.commits - commits
        sample: Sample = {"runbooks_per_second": load.count / elapsed, "commits": made}
        await until_killed(load, sample, one)
    return sample


def acknowledged(load: Load) -> Sample:
    """Look up every acknowledged runbook: it must have completed."""
    return asyncio.run(_acknowledged(load))


async def _acknowledged(load: Load) -> Sample:
    ids = acknowledged_ids(load.acknowledged or "")
    missing: list[str] = []
    async with Perdure.open(load.url, definitions=[DEFINITIONS], handlers=["bench.handlers"]) as perdure:

        async def check(number: int) -> None:
            if (await perdure.runbooks.show(ids[number])).state != "completed":
                missing.append(ids[number])

        await drain_all(64, check, len(ids))
    return {"checked": len(ids), "missing": len(missing), "first_missing": missing[:3]}
