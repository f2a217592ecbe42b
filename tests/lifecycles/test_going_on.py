"""An instance goes on by itself when facts change, asks for what is missing, and ends by time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from perdure.errors import RejectedError
from perdure.journal import Origin
from perdure.lifecycles.task_results import TaskResult
from perdure.testing.sandbox import Sandbox
from tests.lifecycles.onboarding import LIFECYCLE, ME, Handlers, catalogue, letters_of, lifecycles_of, state_of, written

pytestmark = pytest.mark.both_stores


@asynccontextmanager
async def opened(url: str, folder: Path, handlers: Handlers | None = None, **more: Any) -> AsyncIterator[Sandbox]:
    bound = (handlers or Handlers()).bound()
    text = more.pop("text", LIFECYCLE)
    async with Sandbox.open(
        url, definitions=catalogue(), lifecycles=[written(folder, text)], handlers=bound, **more
    ) as sandbox:
        yield sandbox


async def started(sandbox: Sandbox, subject: str = "c1", **context: Any) -> bytes:
    begun = await lifecycles_of(sandbox).start("onboarding", subject, context, ME)
    await sandbox.run_until_idle()
    return begun.aggregate.id


@pytest.mark.req("T1")
@pytest.mark.req("T2")
async def test_a_closed_guard_is_a_blocker_that_asks_for_what_is_missing(store_url: str, tmp_path: Path) -> None:
    handlers = Handlers()
    async with opened(store_url, tmp_path, handlers) as sandbox:
        id = await started(sandbox)
        state = await state_of(sandbox, id)
        assert state.state == "INTAKE"
        assert [(each.key, each.type) for each in state.blocked] == [("passport", "MissingDocument")]
        (blocker,) = (await sandbox.lifecycles.get(letters_of(id))).blockers
        assert blocker.missing == ["field 'passport' of record 'client/c1' has no value, not 'verified'"]
        (task,) = state.tasks
        assert (task.status, task.attempt, task.verb) == ("pending", 1, "papers.ask")
        assert task.correlation_id.endswith(":MissingDocument:passport:1")
        assert handlers.asked == {task.correlation_id: 1}


@pytest.mark.req("T5")
async def test_a_changed_record_moves_the_instances_that_asked_for_it_and_nobody_else(
    store_url: str, tmp_path: Path
) -> None:
    async with opened(store_url, tmp_path) as sandbox:
        mine, other = await started(sandbox, "c1"), await started(sandbox, "c2")
        before = (await state_of(sandbox, other)).round
        await sandbox.call("client.create", {"id": "c1", "passport": "verified"})
        await sandbox.run_until_idle()
        state = await state_of(sandbox, mine)
        assert state.state == "REVIEW"
        assert [task.status for task in state.tasks] == ["cancelled"]
        assert (await state_of(sandbox, other)).round == before
        assert [(each.source, each.target, each.cause) for each in state.history] == [
            ("", "INTAKE", "start"),
            ("INTAKE", "REVIEW", "auto"),
        ]


async def test_a_subject_has_one_active_instance_and_another_after_that(store_url: str, tmp_path: Path) -> None:
    async with opened(store_url, tmp_path) as sandbox:
        lifecycles = lifecycles_of(sandbox)
        first = await lifecycles.start("onboarding", "c1", {}, ME)
        again = await lifecycles.start("onboarding", "c1", {}, ME)
        assert (first.is_new, again.is_new, again.aggregate.id) == (True, False, first.aggregate.id)
        elsewhere = await lifecycles.start("onboarding", "c1", {}, Origin("other", "local"))
        assert elsewhere.is_new
        await sandbox.advance("P31D")
        assert (await state_of(sandbox, first.aggregate.id)).status == "completed"
        second = await lifecycles.start("onboarding", "c1", {}, ME)
        assert second.is_new
        newest = await lifecycles.newest("onboarding", "c1", ME)
        assert newest is not None
        assert newest.id == second.aggregate.id


async def test_a_state_ends_by_its_deadline_and_leaves_nothing_to_decide(store_url: str, tmp_path: Path) -> None:
    async with opened(store_url, tmp_path) as sandbox:
        id = await started(sandbox)
        await sandbox.advance("P29D")
        assert (await state_of(sandbox, id)).state == "INTAKE"
        await sandbox.advance("P2D")
        state = await state_of(sandbox, id)
        assert (state.state, state.status, state.history[-1].cause) == ("REJECTED", "completed", "time")
        assert not list(state.open_tasks())
        receipt = await lifecycles_of(sandbox).receive(TaskResult(state.tasks[0].correlation_id, "completed"), ME)
        assert receipt.answer == "over"
        with pytest.raises(RejectedError, match="it is completed in state REJECTED"):
            await lifecycles_of(sandbox).transit(letters_of(id), "REJECTED", "", ME)


@pytest.mark.req("T14")
async def test_an_expired_task_is_asked_for_again_as_often_as_it_may_be(store_url: str, tmp_path: Path) -> None:
    handlers = Handlers()
    text = LIFECYCLE.replace("timeout_hours: 720", "timeout_hours: 72000")
    async with opened(store_url, tmp_path, handlers, text=text) as sandbox:
        id = await started(sandbox)
        await sandbox.advance("P40D")
        state = await state_of(sandbox, id)
        assert [(task.attempt, task.status) for task in state.tasks] == [(1, "expired"), (2, "expired"), (3, "expired")]
        assert len(handlers.asked) == 3
        assert state.blocked[0].key == "passport"


@pytest.mark.req("T14")
async def test_a_resolution_that_fails_closes_its_task_with_the_reason(store_url: str, tmp_path: Path) -> None:
    handlers = Handlers()
    handlers.is_broken = True
    async with opened(store_url, tmp_path, handlers) as sandbox:
        id = await started(sandbox)
        await sandbox.advance("PT1H")
        state = await state_of(sandbox, id)
        assert [task.status for task in state.tasks] == ["failed"] * 3
        assert "the mailbox is gone" in state.tasks[0].error


@pytest.mark.req("T5")
@pytest.mark.req("T14")
async def test_a_result_counts_once_and_its_cargo_is_in_the_context(store_url: str, tmp_path: Path) -> None:
    async with opened(store_url, tmp_path) as sandbox:
        id = await started(sandbox, name="Ada")
        correlation = (await state_of(sandbox, id)).tasks[0].correlation_id
        result = TaskResult(correlation, "completed", "document", "external://crm/d1", idempotency_key="k1")
        lifecycles = lifecycles_of(sandbox)
        assert [(await lifecycles.receive(result, ME)).answer for _ in range(3)] == ["accepted", "known", "known"]
        aggregate = await lifecycles.read(letters_of(id), ME)
        material = await lifecycles.material(aggregate)
        assert material.context["name"] == "Ada"
        assert material.context["task_result:passport"]["cargo_ref"] == "external://crm/d1"
        task = aggregate.state.task(correlation)
        assert (task.status, task.received, task.expected) == ("completed", 1, 1)


@pytest.mark.parametrize(
    ("cargo", "fact"),
    [
        ("document://other/d1", "belongs to another tenant"),
        ("passport.pdf", "is not a pointer"),
        ("ftp://default/x", "unknown scheme"),
    ],
)
async def test_cargo_that_is_no_pointer_of_the_tenant_is_refused(
    store_url: str, tmp_path: Path, cargo: str, fact: str
) -> None:
    async with opened(store_url, tmp_path) as sandbox:
        id = await started(sandbox)
        correlation = (await state_of(sandbox, id)).tasks[0].correlation_id
        with pytest.raises(RejectedError, match=fact):
            await lifecycles_of(sandbox).receive(TaskResult(correlation, "completed", "document", cargo), ME)
        assert (await state_of(sandbox, id)).tasks[0].status == "pending"


async def test_another_tenant_finds_neither_instance_nor_task(store_url: str, tmp_path: Path) -> None:
    stranger = Origin("other", "mallory")
    async with opened(store_url, tmp_path) as sandbox:
        id = await started(sandbox)
        correlation = (await state_of(sandbox, id)).tasks[0].correlation_id
        lifecycles = lifecycles_of(sandbox)
        for attempt in (
            lifecycles.read(letters_of(id), stranger),
            lifecycles.transit(letters_of(id), "REJECTED", "", stranger),
            lifecycles.receive(TaskResult(correlation, "completed"), stranger),
        ):
            with pytest.raises(RejectedError, match="there is no such"):
                await attempt
        assert await lifecycles.newest("onboarding", "c1", stranger) is None


@pytest.mark.req("T1")
async def test_people_move_an_instance_with_role_reason_and_four_eyes(store_url: str, tmp_path: Path) -> None:
    async with opened(store_url, tmp_path) as sandbox:
        await sandbox.call("client.create", {"id": "c1", "passport": "verified"})
        lifecycles, letters = lifecycles_of(sandbox), letters_of(await started(sandbox))
        ada = Origin("default", "ada", groups=("compliance",))
        with pytest.raises(RejectedError, match="does not belong to 'compliance'"):
            await lifecycles.transit(letters, "APPROVED", "fine", ME)
        with pytest.raises(RejectedError, match="it needs a reason"):
            await lifecycles.transit(letters, "APPROVED", "", ada)
        with pytest.raises(RejectedError, match="field 'risk' of record 'client/c1' has no value"):
            await lifecycles.transit(letters, "APPROVED", "fine", ada)
        assert (await lifecycles.transit(letters, "REJECTED", "no", ada))[0] == "proposed"
        with pytest.raises(RejectedError, match="a second person has to agree"):
            await lifecycles.transit(letters, "REJECTED", "no", Origin("default", "agent", behind=("ada",)))
        await sandbox.call("client.update", {"id": "c1", "risk": "low"})
        await sandbox.run_until_idle()
        answer, moved = await lifecycles.transit(letters, "APPROVED", "fine", ada)
        assert (answer, moved.state.state, moved.state.status) == ("moved", "APPROVED", "completed")


async def test_of_two_movers_at_one_gate_one_passes(store_url: str, tmp_path: Path) -> None:
    async with opened(store_url, tmp_path) as sandbox:
        await sandbox.call("client.create", {"id": "c1", "passport": "verified", "risk": "low"})
        lifecycles, id = lifecycles_of(sandbox), await started(sandbox)
        letters = letters_of(id)
        people = [Origin("default", f"p{number}", groups=("compliance",)) for number in range(5)]
        answers = await asyncio.gather(
            *(lifecycles.transit(letters, "APPROVED", "fine", each) for each in people), return_exceptions=True
        )
        assert sum(not isinstance(each, BaseException) for each in answers) == 1
        assert [each.target for each in (await state_of(sandbox, id)).history] == ["INTAKE", "REVIEW", "APPROVED"]
