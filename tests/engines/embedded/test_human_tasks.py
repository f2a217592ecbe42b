"""People: tasks are claimed and completed, incidents retried and resolved."""

from __future__ import annotations

import pytest

from perdure.errors import RejectedError, SchemaViolationError
from perdure.journal import Origin
from tests.engines.embedded.engine_world import ORIGIN, opened
from tests.engines.embedded.process_models import line, service, user

BOB = Origin("default", "bob")
SCHEMA = '{"type": "object", "required": ["verdict"], "properties": {"verdict": {"enum": ["yes", "no"]}}}'


@pytest.mark.req("V20")
async def test_a_claimed_task_is_completed_by_who_claimed_it_or_is_given_back(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("p", user("review")))
        begun = await world.start("p")
        node = world.node(begun, "review")
        await world.engine.claim_task(begun.id, node, ORIGIN)
        with pytest.raises(RejectedError, match="ada"):
            await world.engine.complete_task(begun.id, node, BOB)
        with pytest.raises(RejectedError, match="ada"):
            await world.engine.claim_task(begun.id, node, BOB)
        await world.engine.claim_task(begun.id, node, ORIGIN, release=True)
        await world.engine.complete_task(begun.id, node, BOB)
        assert (await world.now(begun)).state.status == "completed"


@pytest.mark.req("V32")
async def test_what_a_task_brings_is_checked_against_its_schema_at_the_door(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("p", user("review", properties={"schema": SCHEMA})))
        begun = await world.start("p")
        node = world.node(begun, "review")
        for wrong in ({}, {"verdict": "perhaps"}):
            with pytest.raises(SchemaViolationError, match="verdict"):
                await world.engine.complete_task(begun.id, node, ORIGIN, data=wrong)
        await world.engine.complete_task(begun.id, node, ORIGIN, data={"verdict": "no"})
        assert await world.data(begun) == {"verdict": "no"}


@pytest.mark.req("V32")
async def test_flags_come_only_through_the_intake_verb_of_a_task(store_url: str) -> None:
    async with opened(store_url) as world:
        world.handlers.flags["t.intake"] = {"orch_answered": True}
        await world.deploy(line("p", user("review", properties={"intake": "t.intake"})))
        begun = await world.start("p")
        node = world.node(begun, "review")
        with pytest.raises(SchemaViolationError, match="answer"):
            await world.engine.complete_task(begun.id, node, ORIGIN, data={"wrong": 1})
        await world.engine.complete_task(begun.id, node, ORIGIN, data={"answer": "yes"})
        ended = await world.now(begun)
        assert ended.state.status == "completed"
        assert ended.state.flags == {"orch_answered": True}
        assert await world.data(ended) == {"answered": "yes"}, "what came is the intake's, what it returned is ours"


async def test_a_task_completed_twice_under_one_message_id_ends_once(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("p", user("first"), user("second")))
        begun = await world.start("p")
        node = world.node(begun, "first")
        for _ in range(2):
            await world.engine.complete_task(begun.id, node, ORIGIN, data={"a": 1}, message_id="m-1")
        assert world.standing(await world.now(begun)) == ["second"]
        with pytest.raises(RejectedError, match="'ada' has completed it"):
            await world.engine.complete_task(begun.id, node, ORIGIN, message_id="m-2")


@pytest.mark.req("V16")
async def test_a_broken_contract_is_an_incident_that_is_retried_once_mended(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("p", service("a", "t.contract"), service("b", "t.one")))
        stuck = await world.start("p")
        assert stuck.state.status == "active"
        node = world.node(stuck, "a")
        listed = await world.sandbox.incidents()
        assert [view.id for view in listed] == [world.letters(stuck)]
        world.handlers.is_broken = False
        await world.engine.retry_incident(stuck.id, node, ORIGIN, reason="mended")
        ended = await world.now(stuck)
        assert ended.state.status == "completed"
        assert await world.data(ended) == {"ok": True, "t_one": 1}


@pytest.mark.req("V16")
async def test_an_incident_resolved_by_hand_goes_on_with_what_the_person_says(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("p", service("a", "t.contract"), service("b", "t.one")))
        stuck = await world.start("p")
        await world.engine.resolve_incident(stuck.id, world.node(stuck, "a"), ORIGIN, data={"ok": False}, reason="seen")
        ended = await world.now(stuck)
        assert (ended.state.status, await world.data(ended)) == ("completed", {"ok": False, "t_one": 1})


@pytest.mark.req("V16")
async def test_an_uncaught_business_error_is_an_incident_and_a_transient_one_is_retried(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(line("refused", service("a", "t.refused")))
        await world.deploy(line("flaky", service("a", "t.flaky")))
        refused = await world.start("refused")
        assert "CARD_DECLINED" in next(iter(refused.rows.incidents)).code or refused.state.status == "active"
        flaky = await world.start("flaky")
        assert flaky.state.status == "active"
        await world.sandbox.advance("PT1M")
        ended = await world.now(flaky)
        assert (ended.state.status, world.handlers.runs["t.flaky"]) == ("completed", 3)
        assert len(world.handlers.keys["t.flaky"]) == 1
