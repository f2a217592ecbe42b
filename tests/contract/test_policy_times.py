"""Times of policies on our engine: an attempt and all attempts of a piece of work have so long, and no longer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from perdure import Call, Perdure, Transient
from perdure.testing.sandbox import Sandbox
from tests.contract.contract_world import MODELS, begun, settled, verbs_of

pytestmark = pytest.mark.both_stores
MODEL = MODELS / "gate.bpmn"
CATALOGUE = verbs_of("gate.bpmn")
POLICIES = """version: 1
policies:
  default:
    schedule_to_close: {together}
    start_to_close: {each}
    retry:
      {{maximum_attempts: {attempts}, initial_interval: {pause}, maximum_interval: {pause}, backoff_coefficient: 1.0}}
  patient:
    schedule_to_close: 60
    start_to_close: 60
    retry: {{maximum_attempts: 1, initial_interval: 1, maximum_interval: 1, backoff_coefficient: 1.0}}
"""


def policies(folder: Path, each: float, together: float, attempts: int = 2, pause: float = 10) -> Path:
    file = folder / "policies.yaml"
    file.write_text(POLICIES.format(each=each, together=together, attempts=attempts, pause=pause))
    return file


@asynccontextmanager
async def claims(url: str, assess: Callable[[Call], Any], policies: Path) -> AsyncIterator[Sandbox]:
    async with Sandbox.open(url, definitions=CATALOGUE, handlers=handlers(assess)) as sandbox:
        await sandbox.processes.deploy(MODEL, profile="contract", policies=policies)
        yield sandbox


def handlers(assess: Callable[[Call], Any]) -> dict[str, Callable[[Call], Any]]:
    return {"claim.assess": assess, "claim.pay": lambda call: {}, "claim.decline": lambda call: {}}


@pytest.mark.req("B4")
async def test_an_attempt_that_takes_too_long_is_cut_off_and_tried_again(store_url: str, tmp_path: Path) -> None:
    attempts: list[int] = []
    cut = asyncio.Event()

    async def assess(call: Call) -> dict[str, int]:
        attempts.append(call.attempt)
        if len(attempts) == 1:
            try:
                await asyncio.Event().wait()
            finally:
                cut.set()
        return {"amount": 7}

    async with claims(store_url, assess, policies(tmp_path, 0.1, 600)) as sandbox:
        id = (await sandbox.instances.start("approve_claim", {"claim": {"id": "c-1"}})).id
        await asyncio.wait_for(cut.wait(), 60)
        await settled(sandbox, id)
        await sandbox.advance("PT1M")
        view = await sandbox.instances.get(id)
        assert (attempts, view.state) == ([1, 2], "active")
        assert view.data["amount"] == 7


@pytest.mark.req("B4")
async def test_no_attempt_begins_when_the_time_of_all_is_over(store_url: str, tmp_path: Path) -> None:
    attempts: list[int] = []

    def assess(call: Call) -> dict[str, int]:
        attempts.append(call.attempt)
        if len(attempts) < 7:
            raise Transient("the other side is away")
        return {"amount": 7}

    async with claims(store_url, assess, policies(tmp_path, 20, 25, attempts=9)) as sandbox:
        id = (await begun(sandbox, "approve_claim", claim={"id": "c-1"})).id
        await sandbox.advance("PT1H")
        stuck = await sandbox.instances.get(id)
        assert attempts == [1, 2, 3], "at 0, 10 and 20 seconds; 30 would be too late"
        ((code, text),) = [(each.code, each.text) for each in stuck.incidents]
        assert (code, "its 25 s are over" in text) == ("job.retries_exhausted", True)
        await sandbox.instances.retry(id, stuck.incidents[0].token)
        await sandbox.run_until_idle()
        await sandbox.advance("PT1M")
        mended = await sandbox.instances.get(id)
        assert (list(mended.incidents), mended.data["amount"]) == ([], 7), "a person gives it all the time again"


async def test_a_thread_that_goes_on_changes_nothing(store_url: str, tmp_path: Path) -> None:
    going, ended = threading.Event(), threading.Event()
    attempts: list[int] = []

    def assess(call: Call) -> dict[str, int]:
        attempts.append(call.attempt)
        if len(attempts) > 1:
            return {"amount": 2}
        going.wait(60)
        ended.set()
        return {"amount": 1}

    async with Perdure.open(store_url, definitions=CATALOGUE, handlers=handlers(assess)) as perdure:
        file = policies(tmp_path, 0.1, 600, pause=0.1)
        await perdure.processes.deploy(MODEL, profile="contract", policies=file)
        id = (await perdure.instances.start("approve_claim", {"claim": {"id": "c-1"}})).id
        while not await perdure.tasks.list():
            await asyncio.sleep(0.02)
        going.set()
        assert await asyncio.to_thread(ended.wait, 60)
        view = await perdure.instances.get(id)
        assert (attempts, view.data["amount"]) == ([1, 2], 2)
