"""The process stops before and after every commit of a lifecycle: nothing is lost, asked twice or moved twice."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from perdure.lifecycles.task_results import TaskResult
from perdure.testing.fault_injection import Crash, FaultyDriver, Side
from perdure.testing.sandbox import Sandbox, quiet_driver
from perdure.testing.virtual_clock import VirtualSources
from tests.crash.audit import assert_audit_passes
from tests.depth import killed_commits, some_kills
from tests.lifecycles.onboarding import ME, Handlers, catalogue, lifecycles_of, written

MAX_COMMITS = 40
Act = Callable[["Onboarding", Sandbox], Awaitable[None]]


class Onboarding:
    """One client: asked for a passport, the result comes twice, the record changes, and nobody ever reviews."""

    def __init__(self, subject: str) -> None:
        self.subject = subject
        self.handlers = Handlers()

    async def start(self, sandbox: Sandbox) -> None:
        await lifecycles_of(sandbox).start("onboarding", self.subject, {}, ME)
        await sandbox.run_until_idle()

    async def answer(self, sandbox: Sandbox) -> None:
        for _ in range(2):
            newest = await lifecycles_of(sandbox).newest("onboarding", self.subject, ME)
            assert newest is not None
            correlation = newest.state.tasks[0].correlation_id
            cargo = "external://crm/d1"
            await lifecycles_of(sandbox).receive(
                TaskResult(correlation, "completed", "document", cargo, idempotency_key="once"), ME
            )
        await sandbox.run_until_idle()

    async def change(self, sandbox: Sandbox) -> None:
        args = {"id": self.subject, "passport": "verified", "risk": "low"}
        await sandbox.call("client.create", args, idempotency_key=f"create-{self.subject}")
        await sandbox.run_until_idle()

    async def pass_by(self, sandbox: Sandbox) -> None:
        await sandbox.run_until_idle()


ACTS: tuple[Act, ...] = (Onboarding.start, Onboarding.answer, Onboarding.change, Onboarding.pass_by)


class Trial:
    def __init__(self, url: str, file: Path, crash_at: int, side: Side, clock: VirtualSources) -> None:
        self.url, self.file, self.clock = url, file, clock
        self.crash_at, self.side = crash_at, side
        self.story = Onboarding(f"c-{crash_at}-{side}")
        self.crashes = 0

    async def run(self) -> None:
        sandbox, faulty = await self._open(self.crash_at)
        for act in ACTS:
            while True:
                try:
                    await act(self.story, sandbox)
                    break
                except Crash:
                    self.crashes += 1
                    await faulty.abandon()
                    sandbox, faulty = await self._open(0)
        found = await lifecycles_of(sandbox).newest("onboarding", self.story.subject, ME)
        assert found is not None
        self.state = found.state
        await sandbox.runtime.stop()

    async def _open(self, crash_at: int) -> tuple[Sandbox, FaultyDriver]:
        faulty = FaultyDriver(quiet_driver(self.url), crash_at, self.side)
        sandbox = await Sandbox.start(
            self.url, definitions=catalogue(), lifecycles=[self.file], handlers=self.story.handlers.bound(),
            clock=self.clock, driver=faulty,
        )  # fmt: skip
        await sandbox.run_until_idle()
        return sandbox, faulty


@pytest.mark.req("T5")
@pytest.mark.req("T14")
@some_kills
async def test_a_crash_at_any_commit_of_a_lifecycle_loses_and_repeats_nothing(
    store_url: str, tmp_path: Path, every: int
) -> None:
    clock, file = VirtualSources(seed=1), written(tmp_path)
    async with Sandbox.open(store_url, definitions=catalogue(), lifecycles=[file], clock=clock):
        pass  # deployed once, so that every commit that is crashed belongs to the story
    for side in ("before", "after"):
        for crash_at in killed_commits(every, f"onboarding{side}", MAX_COMMITS):
            trial = Trial(store_url, file, crash_at, side, clock)  # type: ignore[arg-type]
            await trial.run()
            state, place = trial.state, (crash_at, side)
            assert [(each.source, each.target) for each in state.history] == [("", "INTAKE"), ("INTAKE", "REVIEW")], (
                place
            )
            first = state.tasks[0]
            assert (first.status, first.received, first.cargo) == ("completed", 1, ("external://crm/d1",)), place
            assert len(trial.story.handlers.asked) == len(state.tasks), place
            if trial.crashes == 0:
                break
        else:
            pytest.fail("the scenario never ran through without reaching the crash")
    await assert_audit_passes(store_url)
