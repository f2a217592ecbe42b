"""Human tasks of processes on both stores: who may act, what is recorded, and what happens when nobody does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perdure.app.tasks.views import FieldError, field_errors
from perdure.bpmn.model import Value
from perdure.bpmn.xml import read_model, write_model
from perdure.errors import RejectedError, SchemaViolationError
from perdure.human_tasks import ADMINISTRATORS
from perdure.testing.virtual_clock import VirtualSources
from tests.engines.embedded.engine_world import ORIGIN, World, opened
from tests.engines.embedded.process_models import line, service, user

LADDER = {"perdure:remind": "P1D", "perdure:reassign": "P2D seniors", "perdure:escalate": "P3D board, P4D user:zoe"}
FORM = '{"type": "object", "required": ["verdict"], "properties": {"verdict": {"enum": ["yes", "no"]}}}'


async def waiting(world: World, **task: Any) -> str:
    """The key of a task of a process that has just begun."""
    await world.deploy(line("p", user("review", **task), service("after", "t.one")), profile="open")
    begun = await world.start("p")
    return f"{world.letters(begun)}:{world.node(begun, 'review')}"


async def history(world: World, key: str) -> list[Any]:
    told = await world.instances.history(key.split(":", maxsplit=1)[0], ORIGIN)
    return [entry for each in told for entry in each.entries]


def named(entries: list[Any], *names: str) -> list[tuple[Any, ...]]:
    """Entries of those names without their numbers, their times and what was seen."""
    left_out = ("number", "at", "seen", "due_at")
    found = [each for each in entries if type(each).__name__ in names]
    return [
        (type(each).__name__, *(getattr(each, f) for f in each.__struct_fields__ if f not in left_out))
        for each in found
    ]


@pytest.mark.req("V20")
async def test_who_may_claim_and_complete_is_enforced_by_assignee_and_group(store_url: str) -> None:
    async with opened(store_url) as world:
        key = await waiting(world, assignee=Value("ana"), groups=Value("seniors, night"))
        stranger = world.sandbox.acting(principal="eve", groups=["day"])
        for act in (stranger.tasks.claim(key), stranger.tasks.complete(key), stranger.tasks.delegate(key, "eve")):
            with pytest.raises(RejectedError, match="it is for ana, group seniors, group night") as refused:
                await act
            assert refused.value.rejection.code == "forbidden"
        with pytest.raises(RejectedError, match="'eve' is not one of them"):
            await stranger.complete(key, {"by": "the other door"})
        bob = world.sandbox.acting(principal="bob", groups=["night"])
        assert (await bob.tasks.claim(key)).state == "claimed"
        with pytest.raises(RejectedError, match="'bob' has claimed it"):
            await world.sandbox.acting(principal="ana").tasks.complete(key)
        await bob.tasks.unclaim(key)
        await world.sandbox.acting(principal="ana").tasks.complete(key)
        assert named(await history(world, key), "TaskClaimed", "TaskCompleted") == [
            ("TaskClaimed", "bob"), ("TaskClaimed", ""), ("TaskCompleted", "ana")
        ]  # fmt: skip


@pytest.mark.req("V20")
async def test_the_first_answer_counts_over_all_doors_and_the_second_is_told_whose_it_was(store_url: str) -> None:
    async with opened(store_url) as world:
        key = await waiting(world)
        ana, bob = world.sandbox.acting(principal="ana"), world.sandbox.acting(principal="bob")
        await ana.complete(key, {"from": "ana"}, message_id="m-1")
        await world.sandbox.run_until_idle()
        for again in (bob.tasks.complete(key, {"from": "bob"}), bob.complete(key, {"from": "bob"})):
            with pytest.raises(RejectedError, match="'ana' has completed it") as refused:
                await again
            assert refused.value.rejection.code == "wrong_state"
        await ana.tasks.complete(key, {"from": "ana"}, message_id="m-1")
        instance = await world.sandbox.instances.get(key.split(":")[0])
        assert (instance.state, instance.data) == ("completed", {"from": "ana", "t_one": 1})


@pytest.mark.req("V36")
async def test_four_eyes_keep_the_one_who_asked_from_answering_also_through_a_call(store_url: str) -> None:
    async with opened(store_url) as world:
        model = line("carried", user("review", properties={"perdure:fourEyes": "true"}), service("a", "t.one"))
        await world.deploy(model, profile="open")
        rico = world.sandbox.acting(principal="rico", groups=[ADMINISTRATORS])
        call = await rico.call("t.carried", {"given": 1})
        await world.sandbox.run_until_idle()
        (task,) = await world.sandbox.tasks.list()
        assert (task.four_eyes, task.requester) == (True, "rico")
        assert await rico.tasks.list(mine=True) == []
        for override in ("", "I am in a hurry"):
            with pytest.raises(RejectedError, match="four eyes"):
                await rico.tasks.complete(task.key, override=override)
        await world.sandbox.acting(principal="ana").tasks.complete(task.key)
        await world.sandbox.run_until_idle()
        assert (await world.sandbox.status(call.id)).state == "completed"


@pytest.mark.req("V20")
async def test_an_administrator_acts_for_others_and_the_reason_is_on_record(store_url: str) -> None:
    async with opened(store_url) as world:
        key = await waiting(world, assignee=Value("ana"))
        chief = world.sandbox.acting(principal="chief", groups=[ADMINISTRATORS])
        with pytest.raises(RejectedError, match="it is for ana"):
            await chief.tasks.complete(key)
        with pytest.raises(RejectedError, match="only administrators"):
            await world.sandbox.acting(principal="eve").tasks.complete(key, override="please")
        await chief.tasks.reassign(key, groups="night", override="ana is ill")
        await chief.tasks.complete(key, override="nobody is there at night")
        assert named(await history(world, key), "TaskOverridden", "TaskReassigned", "TaskCompleted") == [
            ("TaskOverridden", "chief", "reassign", "ana is ill"), ("TaskReassigned", "", "chief", "night"),
            ("TaskOverridden", "chief", "complete", "nobody is there at night"), ("TaskCompleted", "chief"),
        ]  # fmt: skip


@pytest.mark.req("V20")
async def test_a_delegated_task_is_for_the_other_one_and_remembers_who_handed_it_on(store_url: str) -> None:
    async with opened(store_url) as world:
        key = await waiting(world, assignee=Value("ana"))
        handed = await world.sandbox.acting(principal="ana").tasks.delegate(key, "bob")
        assert (handed.assignee, handed.delegated_by, handed.state) == ("bob", ["ana"], "open")
        with pytest.raises(RejectedError, match="it is for bob"):
            await world.sandbox.acting(principal="ana").tasks.complete(key)
        await world.sandbox.acting(principal="bob").tasks.complete(key)


@pytest.mark.req("V20", "V21")
async def test_a_ladder_climbs_by_durable_timers_each_rung_once_over_a_restart(store_url: str) -> None:
    clock = VirtualSources(1)
    async with opened(store_url, clock=clock) as world:
        key = await waiting(world, assignee=Value("ana"), properties=LADDER)
        await world.sandbox.advance("P1D")
        assert [each.is_done for each in (await world.sandbox.tasks.get(key)).ladder] == [True, False, False, False]
    async with opened(store_url, clock=clock) as world:
        await world.sandbox.advance("PT25H")
        view = await world.sandbox.tasks.get(key)
        assert (view.assignee, view.groups) == ("", "seniors")
        sue = world.sandbox.acting(principal="sue", groups=["seniors"])
        await sue.tasks.claim(key)
        await world.sandbox.advance("P3D")
        view = await world.sandbox.tasks.get(key)
        assert (view.claimed_by, view.groups, view.users) == ("", "seniors, board", "zoe")
        await world.sandbox.acting(principal="zoe").tasks.complete(key)
        await world.sandbox.advance("P9D")
        assert named(await history(world, key), "TaskChased") == [
            ("TaskChased", "remind", "", ""), ("TaskChased", "reassign", "seniors", ""),
            ("TaskChased", "escalate", "board", ""), ("TaskChased", "escalate", "", "zoe"),
        ]  # fmt: skip


@pytest.mark.req("V20")
async def test_a_ladder_of_a_user_task_counts_months_as_timers_do(store_url: str) -> None:
    async with opened(store_url) as world:
        key = await waiting(world, properties={"perdure:remind": "P1M", "perdure:escalate": "P1Y board"})
        for span, done in (("P27D", [False, False]), ("P1M", [True, False]), ("P1Y", [True, True])):
            await world.sandbox.advance(span)
            assert [each.is_done for each in (await world.sandbox.tasks.get(key)).ladder] == done


@pytest.mark.req("V20")
async def test_a_suspended_instance_climbs_no_ladder_and_shifts_it_when_asked(store_url: str) -> None:
    async with opened(store_url) as world:
        key = await waiting(world, due=Value("P3D"), properties=LADDER)
        instance = key.split(":")[0]
        before = await world.sandbox.tasks.get(key)
        await world.sandbox.instances.suspend(instance)
        await world.sandbox.advance("P5D")
        with pytest.raises(RejectedError, match="suspended"):
            await world.sandbox.tasks.complete(key)
        await world.sandbox.instances.resume(instance, shift_timers=True)
        await world.sandbox.run_until_idle()
        view = await world.sandbox.tasks.get(key)
        assert not any(each.is_done for each in view.ladder)
        assert (view.due_at or "") > (before.due_at or "")
        await world.sandbox.advance("P1D")
        assert [each.is_done for each in (await world.sandbox.tasks.get(key)).ladder] == [True, False, False, False]


@pytest.mark.req("V20")
async def test_tasks_are_listed_as_mine_as_a_groups_as_open_and_as_overdue(store_url: str) -> None:
    async with opened(store_url) as world:
        tasks = {
            "anas": {"assignee": Value("ana")}, "nights": {"groups": Value("night")}, "late": {"due": Value("PT1H")},
        }  # fmt: skip
        for name, more in tasks.items():
            await world.deploy(line(name, user("review", **more)), profile="open")
            await world.start(name)
        ana = world.sandbox.acting(principal="ana", groups=["night"])
        eve = world.sandbox.acting(principal="eve")

        async def processes(desk: Any, **chosen: Any) -> list[str]:
            return [each.process for each in await desk.tasks.list(**chosen)]

        assert await processes(ana, mine=True) == ["anas", "nights", "late"]
        assert await processes(eve, mine=True) == ["late"]
        assert await processes(eve, group="night") == ["nights"]
        assert await processes(eve, assignee="ana") == ["anas"]
        (nights,) = await ana.tasks.list(group="night")
        await ana.tasks.claim(nights.key)
        assert await processes(eve, unclaimed=True) == ["anas", "late"]
        assert await processes(eve, overdue=True) == []
        await world.sandbox.advance("PT2H")
        assert await processes(eve, overdue=True) == ["late"]


@pytest.mark.req("V20", "V32")
async def test_a_form_comes_from_the_schema_or_the_intake_verb_and_tells_what_is_wrong_by_field(store_url: str) -> None:
    async with opened(store_url) as world:
        key = await waiting(world, properties={"schema": FORM})
        form = (await world.sandbox.tasks.get(key)).form
        assert form is not None
        assert (form["properties"], form["required"]) == ({"verdict": {"enum": ["yes", "no"]}}, ["verdict"])
        with pytest.raises(SchemaViolationError) as wrong:
            await world.sandbox.tasks.complete(key, {})
        assert field_errors(wrong.value) == [FieldError("$.verdict", "it is required")]
        await world.deploy(line("q", service("a", "t.one"), user("ask", properties={"intake": "t.intake"})))
        await world.start("q", data={"answer": "known"})
        other = [each.key for each in await world.sandbox.tasks.list() if each.process == "q"]
        asked = await world.sandbox.tasks.get(other[0])
        assert asked.form is not None
        assert (asked.form["properties"], asked.form["required"], asked.known) == ({}, [], {"answer": "known"})


@pytest.mark.req("V20")
async def test_a_stranger_is_refused_before_anyone_looks_at_the_form(store_url: str) -> None:
    async with opened(store_url) as world:
        key = await waiting(world, assignee=Value("ana"), properties={"schema": FORM})
        with pytest.raises(RejectedError, match="it is for ana"):
            await world.sandbox.acting(principal="eve").tasks.complete(key, {"verdict": "perhaps"})


@pytest.mark.req("V20")
def test_four_eyes_and_ladders_survive_reading_and_writing_the_model(tmp_path: Path) -> None:
    properties = {**LADDER, "perdure:fourEyes": "true"}
    model = line("p", user("review", groups=Value("a, b"), due=Value("P3D"), properties=properties))
    again = read_model(write_model(model).encode(), "p.bpmn")
    (task,) = [node for node in again.definitions.processes[0].body.nodes if node.id == "review"]
    assert task.properties == properties
    assert write_model(again) == write_model(model)


@pytest.mark.req("V20")
async def test_another_principal_belongs_to_no_group_unless_someone_says_so() -> None:
    async with opened() as world:
        ana = world.sandbox.acting(principal="ana", groups=["night"])
        key = await waiting(world, groups=Value("night"))
        with pytest.raises(RejectedError, match="it is for group night"):
            await ana.acting(principal="eve").tasks.claim(key)
        assert (await ana.acting(trace="00-1").tasks.claim(key)).claimed_by == "ana"
