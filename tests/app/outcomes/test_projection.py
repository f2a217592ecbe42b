"""The projection reads every history that was ever kept, and names the step an event is of from its first record on."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.app.outcomes.projection import Projection
from perdure.journal import Record
from perdure.runbooks.machine.journal_entries import ENTRY_VERSION
from tests.engines.embedded.engine_world import opened
from tests.replay.histories import HISTORIES, ID

UNDONE = """
- {name: t.one, execution: {kind: sync, compensate: t.two}}
- {name: t.two, execution: {kind: sync}}
"""


@pytest.mark.parametrize("name", HISTORIES)
def test_every_kept_history_of_a_runbook_can_be_told(name: str) -> None:
    projection = Projection(ID, "default", lambda process, hash: None)
    for place, (command, entries) in enumerate(HISTORIES[name], 1):
        record: Record[Any] = Record(ENTRY_VERSION, 1, command, "ada", "", entries)
        for event, _ in projection.add(ID, place, record):
            assert event.text.startswith(event.event)
            assert event.verb or not event.step


@pytest.mark.req("V18")
async def test_steps_that_compensation_adds_have_their_events() -> None:
    async with opened(verbs=UNDONE) as world:
        run = await world.sandbox.runbooks.start("(t.one :as @a)")
        await world.sandbox.run_until_idle()
        await world.sandbox.runbooks.compensate(run.id, "a mistake")
        await world.sandbox.run_until_idle()
        events = [(each.text, each.step, each.verb) async for each in world.sandbox.outcome_events(run.id)]
        assert events == [
            ("StepStarted", 1, "t.one"), ("ExecutionResult(ok)", 1, "t.one"),
            ("CompensationStarted(a mistake)", 0, ""), ("StepStarted", 2, "t.two"),
            ("ExecutionResult(ok)", 2, "t.two"), ("CompensationCompleted", 0, ""),
        ]  # fmt: skip
