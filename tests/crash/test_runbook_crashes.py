"""The process stops before and after every commit of a runbook: nothing is lost, nothing is recorded twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import pytest

from perdure import Decide
from perdure.testing.fault_injection import Crash, FaultyDriver, Side
from perdure.testing.sandbox import Sandbox, quiet_driver
from perdure.testing.virtual_clock import VirtualSources
from tests.crash.audit import assert_audit_passes
from tests.depth import killed_commits, some_kills
from tests.runbooks.onboarding_verbs import Desk, catalogue, states

MAX_COMMITS = 60
ONCE = {"StepCompleted", "ChoiceMade", "StepSkipped", "StepFailed", "DecisionMade", "CompletionReceived", "StepsAdded"}
"""Entries a step leaves at most once, whatever was interrupted."""
ENDS = ("RunbookCompleted", "RunbookFailed", "CompensationEnded")


class Told(Desk):
    """Decides the same every time it is asked."""

    decision = Decide({})

    async def decide(self, call: Any) -> Decide:
        self._called(call)
        return self.decision


class Told2(Told):
    decision = Decide({"answer": "edd"}, add="LET edd = EXEC co.note(text: entity.id)", skip=["plain"], reason="a PEP")


class Told3(Told):
    decision = Decide({"answer": "by hand"}, add='LET manual = EXEC co.note(text: "by hand")')

    def __init__(self) -> None:
        super().__init__()
        self.failing = {"co.find"}


Act = Callable[[Sandbox, str], Awaitable[None]]


async def idle(sandbox: Sandbox, id: str) -> None:
    await sandbox.run_until_idle()


def completing(step: int, result: Any) -> Act:
    async def act(sandbox: Sandbox, id: str) -> None:
        for _ in range(2):
            await sandbox.complete(f"{id}:{step}", result, message_id=f"m-{id}-{step}")

    return act


async def cancelling(sandbox: Sandbox, id: str) -> None:
    if not (await sandbox.runbooks.show(id)).is_ended:
        await sandbox.runbooks.cancel(id, "withdrawn", compensate=True)


async def extending(sandbox: Sandbox, id: str) -> None:
    if "extra" not in states(await sandbox.runbooks.show(id)):
        await sandbox.runbooks.extend(id, "LET extra = EXEC co.note(text: entity.id)")


async def sealing(sandbox: Sandbox, id: str) -> None:
    await sandbox.runbooks.seal(id)


class Story(NamedTuple):
    name: str
    desk: type[Desk]
    program: str
    acts: tuple[Act, ...]
    ends: str
    steps: dict[str, str]
    sealed: bool = True


STORIES = (
    Story(
        "choices, a decision, a wait",
        Told2,
        """
        LET entity = EXEC co.find(name: "A")
        LET d = EXEC co.decide() AFTER entity
        LET plain = EXEC co.note(text: "plain") AFTER d
        LET papers = EXEC co.documents(entity: entity.id)
        IF papers.complete THEN
          LET filed = EXEC co.note(text: "filed")
        ELSE
          LET chased = EXEC co.note(text: "chased")
        END
        """,
        (idle, completing(4, {"complete": True}), idle),
        "completed",
        {"entity": "completed", "d": "completed", "plain": "skipped", "filed": "completed", "chased": "skipped",
         "edd": "completed", "papers": "completed"},
    ),
    Story(
        "a failure and another way",
        Told3,
        'LET a = EXEC co.find(name: "A") ON FAILURE decide co.decide\nLET b = EXEC co.note(text: a.id)',
        (idle,),
        "completed",
        {"a": "failed", "b": "skipped", "a/decision": "completed", "manual": "completed"},
    ),
    Story(
        "cancelled and taken back",
        Desk,
        """
        LET a = EXEC co.note(text: "one")
        LET b = EXEC co.note(text: "two") AFTER a
        LET c = EXEC co.documents(entity: "C") AFTER b
        """,
        (idle, cancelling, idle),
        "cancelled",
        {"a": "completed", "b": "completed", "c": "cancelled", "a/undo": "completed", "b/undo": "completed"},
    ),
    Story(
        "extended, then sealed",
        Desk,
        'LET entity = EXEC co.find(name: "A")',
        (idle, extending, idle, sealing, idle),
        "completed",
        {"entity": "completed", "extra": "completed"},
        False,
    ),
)  # fmt: skip


class Trial:
    def __init__(self, url: str, story: Story, crash_at: int, side: Side, clock: VirtualSources) -> None:
        self.url, self.story, self.crash_at, self.side, self.clock = url, story, crash_at, side, clock
        self.desk = story.desk()
        self.crashes = 0
        self.id = ""

    async def run(self) -> tuple[Any, list[Any]]:
        sandbox, faulty = await self._open(self.crash_at)
        for act in (self._start, *self.story.acts):
            while True:
                try:
                    await act(sandbox, self.id)
                    break
                except Crash:
                    self.crashes += 1
                    await faulty.abandon()
                    sandbox, faulty = await self._open(0)
                    await sandbox.run_until_idle()
        view = await sandbox.runbooks.show(self.id)
        events = [event async for event in sandbox.runbooks.events(self.id)]
        await sandbox.runtime.stop()
        return view, events

    async def _start(self, sandbox: Sandbox, id: str) -> None:
        key = f"{self.story.name}-{self.crash_at}-{self.side}"
        view = await sandbox.runbooks.start(self.story.program, idempotency_key=key, sealed=self.story.sealed)
        self.id = view.id

    async def _open(self, crash_at: int) -> tuple[Sandbox, FaultyDriver]:
        faulty = FaultyDriver(quiet_driver(self.url), crash_at, self.side)
        sandbox = await Sandbox.start(
            self.url, definitions=catalogue(), handlers=self.desk.bound(), clock=self.clock, driver=faulty
        )
        return sandbox, faulty


@pytest.mark.req("X6")
@pytest.mark.parametrize("story", STORIES, ids=lambda each: each.name)
@some_kills
async def test_a_crash_at_any_commit_of_a_runbook_loses_nothing_and_records_nothing_twice(
    story: Story, store_url: str, every: int
) -> None:
    clock = VirtualSources(seed=3)
    for side in ("before", "after"):
        for crash_at in killed_commits(every, story.name + side, MAX_COMMITS):
            trial = Trial(store_url, story, crash_at, side, clock)  # type: ignore[arg-type]
            view, events = await trial.run()
            assert view.state == story.ends, (crash_at, side, view.progress)
            assert story.steps.items() <= states(view).items(), (crash_at, side)
            _assert_once(events)
            if trial.crashes == 0:
                break
        else:
            pytest.fail("the story never ran through without reaching the crash")
        assert every > 1 or crash_at > 2
    await assert_audit_passes(store_url)


def _assert_once(events: list[Any]) -> None:
    counted = Counter((event.entry, event.data.get("step", event.data.get("first"))) for event in events)
    twice = [what for what, count in counted.items() if what[0] in ONCE and count > 1]
    assert not twice
    ends = [
        event.entry for event in events if event.entry in ("RunbookCompleted", "RunbookFailed", "CompensationEnded")
    ]
    assert len(ends) == 1
