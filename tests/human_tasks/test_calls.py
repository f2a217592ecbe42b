"""A durable verb whose wait is a human task: the same rules as for the tasks of processes, on both stores."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.errors import RejectedError, SchemaViolationError
from perdure.human_tasks import ADMINISTRATORS
from perdure.testing.sandbox import Sandbox
from perdure.testing.virtual_clock import VirtualSources
from perdure.verbs import load_text

VERBS = """
- name: loan.approve
  input_schema: {required: [reviewer], properties: {reviewer: {type: string}}}
  output_schema: {required: [ok], properties: {ok: {type: boolean}}}
  execution:
    kind: durable
    policy: {timeout: P9D}
    task:
      title: "Approve, {reviewer}"
      assignee: "{reviewer}"
      groups: [loans]
      due: P3D
      four_eyes: true
      ladder: [{after: P1D, remind: true}, {after: P2D, reassign: seniors}]
"""


PLAIN = """
- name: loan.pay
  execution: {kind: sync, effects: none}
"""
PROGRAM = '(loan.approve :reviewer "ana" :as @approved) (loan.pay :after [@approved] :gate "treasury")'


def sandbox(url: str, **more: Any) -> Any:
    return Sandbox.open(url, definitions=load_text(VERBS + PLAIN), handlers={"loan.pay": pay}, principal="rico", **more)


async def pay(call: Any) -> dict[str, Any]:
    return {}


async def entries(sandbox: Sandbox, call: str) -> list[str]:
    return [event.entry async for event in sandbox.events(call)]


@pytest.mark.req("V20")
async def test_the_wait_of_a_durable_verb_is_answered_only_by_those_it_is_for(store_url: str) -> None:
    async with sandbox(store_url) as rico:
        call = await rico.call("loan.approve", {"reviewer": "ana"})
        (task,) = await rico.tasks.list()
        assert (task.name, task.assignee, task.groups, task.requester) == ("Approve, ana", "ana", "loans", "rico")
        for who, says in (("rico", "four eyes"), ("eve", "it is for ana, group loans")):
            with pytest.raises(RejectedError, match=says):
                await rico.acting(principal=who).complete(call.id, {"ok": "what fits no form"})
            with pytest.raises(RejectedError, match=says):
                await rico.acting(principal=who).tasks.complete(task.key, {"ok": True})
        bob = rico.acting(principal="bob", groups=["loans"])
        assert (await bob.tasks.claim(task.key)).claimed_by == "bob"
        with pytest.raises(RejectedError, match="'bob' has claimed it"):
            await rico.acting(principal="ana").complete(call.id, {"ok": True})
        assert await rico.dead_letters() == []
        assert (await bob.tasks.delegate(task.key, "zoe")).delegated_by == ["bob"]
        await rico.acting(principal="zoe").tasks.complete(task.key, {"ok": True}, message_id="m-1")
        ended = await rico.status(call.id)
        assert (ended.state, ended.result) == ("completed", {"ok": True})
        assert await rico.tasks.list() == []
        told = [each for each in await entries(rico, call.id) if each.startswith("Task")]
        assert told == ["TaskOpened", "TaskActed", "TaskActed", "TaskActed"]


@pytest.mark.req("V20")
async def test_the_ladder_of_a_verb_climbs_over_a_restart_and_ends_with_the_wait(store_url: str) -> None:
    clock = VirtualSources(1)
    async with sandbox(store_url, clock=clock) as rico:
        call = await rico.call("loan.approve", {"reviewer": "ana"})
        await rico.advance("P1D")
    async with sandbox(store_url, clock=clock) as rico:
        await rico.advance("PT25H")
        (task,) = await rico.tasks.list(group="seniors")
        assert ([each.is_done for each in task.ladder], task.assignee) == ([True, True], "")
        sue = rico.acting(principal="sue", groups=["seniors"])
        assert [each.key for each in await sue.tasks.list(mine=True)] == [task.key]
        await rico.advance("P9D")
        assert (await rico.status(call.id)).state == "failed"
        assert await rico.tasks.list() == []
        assert (await entries(rico, call.id)).count("TaskChased") == 2
        with pytest.raises(RejectedError, match="not open"):
            await sue.tasks.claim(task.key)


@pytest.mark.req("V20")
async def test_an_administrator_answers_a_verb_for_others_with_a_reason(store_url: str) -> None:
    async with sandbox(store_url) as rico:
        call = await rico.call("loan.approve", {"reviewer": "ana"})
        (task,) = await rico.tasks.list()
        chief = rico.acting(principal="chief", groups=[ADMINISTRATORS])
        await chief.tasks.reassign(task.key, groups="night", override="ana is ill")
        with pytest.raises(RejectedError, match="it is for group night"):
            await chief.tasks.complete(task.key, {"ok": False})
        await chief.tasks.complete(task.key, {"ok": False}, override="nobody is there")
        assert (await rico.status(call.id)).state == "completed"
        told = [event.data async for event in rico.events(call.id) if event.entry == "TaskActed"]
        assert [(each["act"], each["by"], each["reason"]) for each in told] == [
            ("reassign", "chief", "ana is ill"), ("complete", "chief", "nobody is there")
        ]  # fmt: skip


@pytest.mark.req("V20")
async def test_steps_and_gates_of_a_runbook_are_in_the_same_list_under_the_same_rules(store_url: str) -> None:
    async with sandbox(store_url) as rico:
        begun = await rico.runbooks.start(PROGRAM)
        await rico.run_until_idle()
        (task,) = await rico.tasks.list()
        assert (task.instance, task.process, task.element) == (begun.id, "loan.approve", "approved")
        with pytest.raises(RejectedError, match="four eyes"):
            await rico.tasks.complete(task.key, {"ok": True})
        await rico.acting(principal="ana").tasks.complete(task.key, {"ok": True})
        await rico.run_until_idle()
        (gate,) = await rico.tasks.list()
        assert (gate.groups, gate.requester, gate.process) == ("treasury", "rico", "loan.pay")
        tina = rico.acting(principal="tina", groups=["treasury"])
        assert [each.key for each in await tina.tasks.list(mine=True)] == [gate.key]
        assert ((await tina.tasks.get(gate.key)).form or {})["required"] == ["agree"]
        for who in (rico, rico.acting(principal="ana")):
            with pytest.raises(RejectedError):
                await who.tasks.complete(gate.key, {"agree": True})
        with pytest.raises(SchemaViolationError, match="agree"):
            await tina.tasks.complete(gate.key, {})
        with pytest.raises(RejectedError, match="agreed to or refused"):
            await tina.tasks.claim(gate.key)
        await tina.tasks.complete(gate.key, {"agree": True})
        await rico.run_until_idle()
        assert (await rico.runbooks.show(begun.id)).state == "completed"
        assert await rico.tasks.list() == []
