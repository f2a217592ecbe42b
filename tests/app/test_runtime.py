"""The running platform: duties that break begin again, and stopping leaves nothing in the air."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from perdure import Perdure
from perdure.sources import SECOND
from tests.runbooks.sample_verbs import Handlers, catalogue
from tests.runbooks.test_calls import opened

SLOW = """
- name: slow.wait
  description: Waits for a sign
  execution: {kind: sync}
"""


async def turns(count: int = 200) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_a_duty_that_breaks_begins_again_and_says_so(sqlite_url: str, caplog: pytest.LogCaptureFixture) -> None:
    runs: list[int] = []

    async def duty() -> None:
        runs.append(1)
        raise ZeroDivisionError

    async with opened(sqlite_url) as sandbox:
        with caplog.at_level(logging.ERROR, "perdure"):
            task = asyncio.create_task(sandbox.runtime._guarded(duty))
            for expected in (1, 2, 3):
                await turns()
                assert len(runs) == expected
                sandbox.clock.move_to(sandbox.clock.now() + SECOND)
        task.cancel()
        assert "begins again" in caplog.text


async def test_stopping_begins_nothing_while_the_last_attempts_end(sqlite_url: str) -> None:
    started, sign = asyncio.Event(), asyncio.Event()

    async def slow(call: Any) -> dict[str, Any]:
        started.set()
        await sign.wait()
        return {}

    async with Perdure.open(sqlite_url, definitions=catalogue(SLOW), handlers={"slow.wait": slow}) as perdure:
        calling = asyncio.create_task(perdure.call("slow.wait"))
        await started.wait()
        duties = list(perdure.runtime._duties)
        stopping = asyncio.create_task(perdure.runtime.stop())
        await turns()
        assert duties and all(duty.done() for duty in duties) and perdure.runtime.conductor.running
        sign.set()
        assert (await calling).state == "completed"
        await stopping


@pytest.mark.both_stores
@pytest.mark.req("X16")
@pytest.mark.parametrize("is_heard", [True, False], ids=["notified", "polled"])
async def test_a_completion_in_one_process_resumes_the_runbook_that_another_waits_for(
    store_url: str, is_heard: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    definitions, handlers = catalogue(), Handlers().bound()
    async with (
        Perdure.open(store_url, definitions=definitions, handlers=handlers) as waiting,
        Perdure.open(store_url, definitions=definitions, handlers=handlers) as completing,
    ):
        if not is_heard:
            monkeypatch.setattr(completing.runtime.driver, "announce", silent)
        plan = await waiting.runbooks.start('LET d = EXEC kyc.documents(entity: "A")\nEXEC kyc.notify() AFTER d')
        ended = asyncio.create_task(waiting.runbooks.wait(plan.id, 30))
        for _ in range(2):
            await completing.complete(f"{plan.id}:1", {"case_id": "c1"}, message_id="m1")
        view = await ended
        assert view.state == "completed"
        named = [each.entry async for each in completing.events(plan.id)]
        assert named.count("CompletionReceived") == 1


async def silent() -> None:
    """Say nothing to other processes."""
