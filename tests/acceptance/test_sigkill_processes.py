"""Workers that carry KYC cases are killed by SIGKILL after random commits, again and again: every case ends once."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import signal
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from perdure import Perdure, load_config
from perdure.app.audit.store_audit import public_keys_of, verify_store
from perdure.app.instances.views import InstanceView
from perdure.journal import Origin
from perdure.sources import parse_id
from tests.acceptance.commands import Shell
from tests.conftest import ROOT
from tests.on_disk import postgres_server

__all__ = ["postgres_server"]

KYC = ROOT / "examples" / "kyc"
FEW, MANY = 3, int(os.environ.get("PERDURE_PROCESS_KILLS", "6"))
CASES = 8
MAX_COMMITS = 14
PATIENCE_SECONDS = 240
EXTRACT = {"documents": [{"document": "register-extract", "reference": "document://1"}]}
DONE = [
    "kyc.create-case-record", "kyc.request-documents", "kyc.receive-documents", "kyc.assign-reviewer",
    "kyc.record-review-decision", "kyc.escalate-if-required",
]  # fmt: skip
TRAIL = DONE
ONCE = ("InstanceStarted", "TaskOpened", "TaskCompleted", "InstanceEnded")


class Office:
    """Clients that only ask, and one worker at a time that does everything."""

    def __init__(self, perdure: Perdure, shell: Shell, chance: random.Random, wanted: int) -> None:
        self.perdure, self.shell, self.chance = perdure, shell, chance
        self.wanted = wanted
        self.kills = 0
        self.is_over = False

    async def open_case(self, number: int) -> str:
        """One client: asks, sends the documents, decides, each under a key of its own; asks again until told."""
        asked = {"entity": f"Client {number}", "case_type": "periodic-review"}
        call = await self.perdure.call("kyc.open-case", asked, idempotency_key=f"case-{number}")
        instance = await self._standing(call.id, "wait_documents")
        key = str(instance.flags["orch_case_id"])
        for _ in range(2):
            told = await self.perdure.publish("docs_received", key, EXTRACT, message_id=f"mail-{number}")
            assert told in ("correlated", "duplicate"), told
        instance = await self._standing(call.id, "review")
        (task,) = [f"{instance.id}:{token.number}" for token in instance.tokens]
        answer = {"outcome": "approved", "reason": "in order"}
        person = self.perdure.acting(principal="otto", groups=["compliance"])
        await person.tasks.complete(task, answer, message_id=f"t-{number}")
        await self._until(lambda: self._has_ended(call.id))
        return call.id

    async def _standing(self, call: str, element: str) -> InstanceView:
        found: list[InstanceView] = []

        async def is_there() -> bool:
            carrier = (await self.perdure.status(call)).carrier
            if carrier is None or not carrier.instance:
                return False
            found.append(await self.perdure.instances.get(carrier.instance))
            return [token.element for token in found[-1].tokens] == [element]

        await self._until(is_there)
        return found[-1]

    async def _has_ended(self, call: str) -> bool:
        return (await self.perdure.status(call)).is_ended

    async def _until(self, is_so: Callable[[], Awaitable[bool]]) -> None:
        while not await is_so():
            await self.perdure.runtime.driver.changed(0.05)

    async def kill_workers(self) -> None:
        """Kill a worker once it has made some commits; the last one lives until everything has ended."""
        while not self.is_over:
            process = await asyncio.to_thread(self.shell.start, "worker", "--json")
            assert process.stdout is not None
            ready = json.loads(await asyncio.to_thread(process.stdout.readline))
            assert ready["ready"]
            until = await self._commits() + self.chance.randint(1, MAX_COMMITS)
            while not self.is_over and (self.kills >= self.wanted or await self._commits() < until):
                await self.perdure.runtime.driver.changed(0.02)
            self.kills += not self.is_over
            process.send_signal(signal.SIGKILL)
            await asyncio.to_thread(process.communicate)

    async def _commits(self) -> int:
        """How many records every journal has together."""
        ids = [await self.perdure.instances.list(limit=100)]
        return sum(each.sequence for page in ids for each in page)

    async def assert_once(self, call: str) -> None:
        view = await self.perdure.status(call)
        assert (view.state, view.result["review_decision"]) == ("completed", "approved")
        assert view.carrier is not None
        instance = await self.perdure.instances.get(view.carrier.instance)
        assert (instance.state, instance.completed) == ("completed", DONE)
        events = [event async for event in self.perdure.instances.events(instance.id)]
        counts = Counter(event.entry for event in events)
        assert all(counts[entry] == 1 for entry in ONCE), counts
        assert [event.data["verb"] for event in events if event.entry == "JobCompleted"] == TRAIL
        instances = self.perdure.runtime.instances
        aggregate = await instances.read(instance.id, Origin())
        envelope = await instances.payloads.open(parse_id(instance.id), aggregate.state.head)
        assert [entry.verb for entry in envelope.sub_verb_trail] == TRAIL
        calls = Counter([event.entry async for event in self.perdure.events(call)])
        assert (calls["CallStarted"], calls["StepCompleted"], calls["CompletionReceived"]) == (1, 1, 1), calls


@pytest.mark.req("V17", "X6", "X7")
@pytest.mark.parametrize("kills", [FEW, pytest.param(MANY, marks=pytest.mark.deep)])
async def test_cases_whose_worker_is_killed_at_random_commits_end_once_each(
    store_url: str, tmp_path: Path, kills: int
) -> None:
    folder = shutil.copytree(KYC, tmp_path / "kyc")
    shell = Shell(folder, store_url)
    config = load_config(folder / "perdure.yaml")
    key_file = None if store_url.startswith("sqlite") else folder / "perdure.seal.key"
    await asyncio.to_thread(shell.run, "deploy", "models/kyc-open-case.bpmn")
    async with Perdure.from_config(config, url=store_url, role="reader") as perdure:
        office = Office(perdure, shell, random.Random(1), kills)
        killing = asyncio.create_task(office.kill_workers())
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                calls = await asyncio.gather(*(office.open_case(number) for number in range(CASES)))
                while office.kills < kills:
                    more = CASES + office.kills + len(calls)
                    calls.append(await office.open_case(more))
        finally:
            office.is_over = True
            await killing
        assert office.kills >= kills
        for call in calls:
            await office.assert_once(call)
        records = await perdure.runtime.desk.open("default", "ada").list("kyc_case", {})
        assert len(records) == len(calls)
        keys = public_keys_of(store_url, key_file)
        assert (await verify_store(perdure, keys)).findings == []
