"""The onboarding flow in DBOS: a step, three at once, four messages, a step."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from dbos import DBOS, SetWorkflowID

from bench.contenders.dbos_ import POLL_SECONDS, _launched
from bench.load import Load, Sample, drain_all

TOPICS = ("papers", "review", "screening", "agreement")


@DBOS.step()
async def find(name: str) -> dict[str, Any]:
    return {"id": name}


@DBOS.step()
async def research(entity: str) -> dict[str, Any]:
    return {"found": entity}


@DBOS.workflow()
async def onboard(name: str) -> dict[str, Any]:
    entity = await find(name)
    # At once, as it is done there: begun in order, and a failure of one does not tear the others.
    found = await asyncio.gather(*[research(entity["id"]) for _ in range(3)], return_exceptions=True)
    assert not any(isinstance(each, BaseException) for each in found)
    for topic in TOPICS:
        await DBOS.recv_async(topic, timeout_seconds=600)
    return await research(entity["id"])


async def measured(load: Load) -> Sample:
    """All are started and wait, then all are sent their messages and come to their end."""
    handles: dict[int, Any] = {}

    async def start(number: int) -> None:
        with SetWorkflowID(f"onboarding-{number}"):
            handles[number] = await DBOS.start_workflow_async(onboard, "Allianz")

    async def finish(number: int) -> None:
        for topic in TOPICS:
            await DBOS.send_async(f"onboarding-{number}", {"ok": True}, topic)
        await handles[number].get_result(polling_interval_sec=POLL_SECONDS)

    async with _launched(load):
        began = time.perf_counter()
        await drain_all(load.concurrency, start, load.count)
        await drain_all(load.concurrency, finish, load.count)
        elapsed = time.perf_counter() - began
    return {"runbooks_per_second": load.count / elapsed}


def onboarding(load: Load) -> Sample:
    return asyncio.run(measured(load))
