"""Notices between aggregates say what they are about in their inbox row; rows of before are still delivered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perdure.bpmn.machine import instance_machine as instance
from perdure.bpmn.machine import process_machine
from perdure.engines.embedded.messages.envelope import MessageEnvelope, body_of, read_envelope
from perdure.journal import Notice
from perdure.journal.notice_routes import (
    IncidentRoute,
    OverRoute,
    Route,
    StartRoute,
    StepRoute,
    ThrownRoute,
    read_route,
    route_body,
    route_of_id,
)
from perdure.runbooks.machine import runbook_machine as runbook
from perdure.testing.scenarios.embedded_world import EmbeddedWorld
from perdure.testing.scenarios.fault_variants import with_ids
from perdure.testing.scenarios.scenario_player import play
from tests.engines.embedded.engine_world import opened
from tests.engines.embedded.process_models import line, service, user
from tests.postmortem.world import survived
from tests.scenarios.cases import ELEMENTS, end_of, scenario_of

LETTERS = "06f0g0zz0yzm0"
OLD: tuple[tuple[str, str, Route], ...] = (
    (instance.THROWN, f"perdure:{LETTERS}/message/7", ThrownRoute("message", 7)),
    (instance.THROWN, f"perdure:{LETTERS}/cancel_call/12", ThrownRoute("cancel_call", 12)),
    (instance.INSTANCE_TOLD, f"perdure:{LETTERS}/incident/4/1767225600", IncidentRoute("incident", 4, 1767225600)),
    (process_machine.START_FIRED, f"perdure:{LETTERS}/start/3/1/1767225600000000", StartRoute(3, 1)),
    (runbook.PROCESS_ASKED, f"perdure:{LETTERS}:2/process", StepRoute(2)),
    (runbook.PROCESS_ASKED, f"perdure:{LETTERS}:2.5/process", StepRoute(2)),
    (
        runbook.PROCESS_OVER, f"perdure:{LETTERS}:2.5/process/over",
        OverRoute(f"perdure:{LETTERS}:2.5/process", f"{LETTERS}:2.5"),
    ),
    (runbook.ESCALATION, f"perdure:{LETTERS}:1/escalation/2", StepRoute(1)),
    (runbook.ESCALATION_OVER, f"perdure:{LETTERS}:1/escalation/2/over", OverRoute(f"perdure:{LETTERS}:1/escalation/2")),
)  # fmt: skip
THROWING = (
    "message-event/throw-and-end", "signal-event/throw-and-end", "call-activity/interrupted-by-timer",
    "call-activity/escalation-is-heard",
)  # fmt: skip


@pytest.mark.parametrize(("kind", "message_id", "route"), OLD, ids=[f"{kind} {id[21:]}" for kind, id, _ in OLD])
def test_a_row_without_a_route_is_read_by_its_id(kind: str, message_id: str, route: Route) -> None:
    assert read_route(kind, message_id, None) == route
    assert read_route(kind, message_id, route_body(route)) == route


@pytest.mark.parametrize("kind", [instance.INSTANCE_ENDED, runbook.CHILD_ENDED, "hold"])
def test_a_notice_that_needs_no_route_has_none(kind: str) -> None:
    assert read_route(kind, f"perdure:{LETTERS}/ended", None) is None
    assert route_body(None) is None


def test_a_letter_of_before_names_who_threw_it_by_its_id() -> None:
    old = MessageEnvelope("alarm", f"perdure:{LETTERS}/signal/3/sent")
    assert read_envelope(old.message_id, body_of(old)).thrower == LETTERS
    assert read_envelope("m1", body_of(MessageEnvelope("alarm", "m1"))).thrower == ""


@pytest.mark.parametrize("name", THROWING)
async def test_every_notice_carries_the_route_that_its_id_told_before(name: str) -> None:
    scenario = scenario_of(ELEMENTS / f"{name}.yaml")
    seen: list[Notice] = []
    async with EmbeddedWorld.open(scenario) as world:
        world.sandbox.runtime.kernel.notice(lambda _, notices: seen.extend(notices))
        await play(scenario, world)
    assert seen
    assert all(route_of_id(each.kind, each.message_id) == each.route for each in seen)


async def test_the_notices_of_a_carried_call_carry_their_routes() -> None:
    seen: list[Notice] = []
    async with opened() as world:
        world.sandbox.runtime.kernel.notice(lambda _, notices: seen.extend(notices))
        await world.deploy(line("carried", service("a", "t.contract"), user("ask")))
        call = await world.sandbox.call("t.carried", {"given": 1})
        await world.sandbox.run_until_idle()
        await world.sandbox.cancel(call.id)
        await world.sandbox.run_until_idle()
    assert {runbook.PROCESS_ASKED, instance.INSTANCE_TOLD, runbook.PROCESS_OVER} <= {each.kind for each in seen}
    assert all(route_of_id(each.kind, each.message_id) == each.route for each in seen)


@pytest.mark.parametrize("name", THROWING)
async def test_rows_of_before_are_delivered_wherever_the_process_dies(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def as_before(route: Any) -> None:
        return None

    scenario = with_ids(scenario_of(ELEMENTS / f"{name}.yaml"))
    async with EmbeddedWorld.open(scenario) as world:
        wanted = end_of((await play(scenario, world)).actual)
        assert world.driver is not None
        commits = len(world.driver.commits_seen)
    monkeypatch.setattr("perdure.kernel.unit_row_digests.route_body", as_before)
    for number in range(1, commits + 1):
        outcome, crashes, findings = await survived(scenario, number, "after")
        assert crashes == 1
        assert end_of(outcome.actual) == wanted
        assert not findings
