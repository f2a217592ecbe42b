"""The process stops before and after every commit of an event, the lifecycle it begins and the actions that follow."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from perdure.testing.fault_injection import Crash, FaultyDriver, Side
from perdure.testing.sandbox import Sandbox, quiet_driver
from perdure.testing.virtual_clock import VirtualSources
from perdure.verbs.handlers import Call
from perdure.verbs.loader import load_text
from tests.crash.audit import assert_audit_passes
from tests.depth import killed_commits, some_kills

MAX_COMMITS = 30
VERBS = """
entities: {client: {key: id, fields: {id: {type: string, required: true}}}}
verbs:
  - name: client.create
    input_schema: {required: [id], properties: {id: {type: string}}}
    execution: {kind: sync, handler: "crud::execute", params: {entity: client, operation: create}}
  - name: mail.send
    input_schema: {required: [to], properties: {to: {type: string}}}
    execution: {kind: sync}
"""
LIFECYCLE = """
lifecycle: welcome
trigger: {event: client.created}
states: {OPEN: , DONE: {terminal: true}}
transitions: [{from: OPEN, to: DONE}]
actions:
  OPEN: [{action: greet, verb: mail.send, params: {to: $subject}, auto: true}]
  DONE: [{action: thank, verb: mail.send, params: {to: $subject}, auto: true}]
"""


class Trial:
    def __init__(self, url: str, clock: VirtualSources, crash_at: int, side: Side) -> None:
        self.url, self.clock, self.crash_at, self.side = url, clock, crash_at, side
        self.subject, self.keys, self.crashes = f"c-{crash_at}-{side}", Counter[str](), 0

    async def send(self, call: Call) -> dict[str, Any]:
        self.keys[call.idempotency_key] += 1
        return {}

    async def run(self) -> None:
        sandbox, faulty = await self._open(self.crash_at)
        while True:
            try:
                await sandbox.call("client.create", {"id": self.subject}, idempotency_key=self.subject)
                await sandbox.run_until_idle()
                break
            except Crash:
                self.crashes += 1
                await faulty.abandon()
                sandbox, faulty = await self._open(0)
        self.found = [await sandbox.lifecycles.get(each.id) for each in await self._listed(sandbox)]
        assert await sandbox.dead_letters() == []
        await sandbox.runtime.stop()

    async def _listed(self, sandbox: Sandbox) -> Any:
        return await sandbox.lifecycles.list("welcome", subject=self.subject)

    async def _open(self, crash_at: int) -> tuple[Sandbox, FaultyDriver]:
        faulty = FaultyDriver(quiet_driver(self.url), crash_at, self.side)
        sandbox = await Sandbox.start(
            self.url, definitions=load_text(VERBS), handlers={"mail.send": self.send}, clock=self.clock, driver=faulty
        )
        await sandbox.run_until_idle()
        return sandbox, faulty


@pytest.mark.req("T1")
@some_kills
async def test_a_crash_at_any_commit_begins_one_instance_and_does_each_action_under_one_key(
    store_url: str, every: int
) -> None:
    clock = VirtualSources(seed=1)
    handlers = {"mail.send": lambda call: {}}
    async with Sandbox.open(store_url, definitions=load_text(VERBS), clock=clock, handlers=handlers) as sandbox:
        await sandbox.lifecycles.deploy(LIFECYCLE)
    for side in ("before", "after"):
        for crash_at in killed_commits(every, f"welcome{side}", MAX_COMMITS):
            trial = Trial(store_url, clock, crash_at, side)  # type: ignore[arg-type]
            await trial.run()
            (status,) = trial.found
            assert [each.target for each in status.history] == ["OPEN", "DONE"], (crash_at, side)
            assert [(each.key, each.attempt, each.status) for each in status.tasks] == [
                ("OPEN:greet", 1, "completed"), ("DONE:thank", 1, "completed"),
            ], (crash_at, side)  # fmt: skip
            assert len(trial.keys) == 2, (crash_at, side)
            if trial.crashes == 0:
                break
        else:
            pytest.fail("the scenario never ran through without reaching the crash")
    await assert_audit_passes(store_url)
