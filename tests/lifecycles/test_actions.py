"""Actions: calls that a state offers, or makes by itself when it is entered, each of them once."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from perdure.errors import BusinessError, RejectedError
from perdure.testing.sandbox import Sandbox
from perdure.verbs.handlers import Call
from perdure.verbs.loader import load_text

VERBS = """
- name: mail.send
  input_schema:
    required: [to, text]
    properties: {to: {type: string}, text: {type: string}}
    additionalProperties: false
  execution: {kind: sync, effects: external}
"""
LIFECYCLE = """
workflow: care
states:
  OPEN:
  CALLED:
  DONE: {terminal: true}
transitions:
  - {from: OPEN, to: CALLED, manual: true}
  - {from: CALLED, to: DONE}
actions:
  OPEN:
    - {action: remind, verb: mail.send, params: {to: $subject, text: please}}
  CALLED:
    - {action: thank, verb: mail.send, params: {to: $subject, text: thanks}, auto: true}
  DONE:
    - {action: close, verb: mail.send, params: {to: $subject, text: bye}, auto: true}
"""


class Mail:
    def __init__(self) -> None:
        self.sent: Counter[str] = Counter()
        self.is_broken = False

    async def send(self, call: Call) -> dict[str, Any]:
        if self.is_broken:
            raise BusinessError("NO_MAILBOX", "the mailbox is gone")
        self.sent[call.args["text"]] += 1
        return {}


@asynccontextmanager
async def office(mail: Mail, url: str = "sqlite://") -> AsyncIterator[Sandbox]:
    async with Sandbox.open(url, definitions=load_text(VERBS), handlers={"mail.send": mail.send}) as perdure:
        await perdure.lifecycles.deploy(LIFECYCLE)
        yield perdure


@pytest.mark.both_stores
@pytest.mark.req("T1")
async def test_an_action_is_done_when_asked_and_by_itself_when_its_state_is_entered(store_url: str) -> None:
    mail = Mail()
    async with office(mail, store_url) as perdure:
        id = (await perdure.lifecycles.start("care", "ana")).instance.id
        await perdure.run_until_idle()
        (offered,) = (await perdure.lifecycles.get(id)).actions
        assert offered.call is not None
        assert (offered.name, offered.is_automatic) == ("remind", False)
        assert offered.call.text == '(mail.send :to "ana" :text "please")'
        assert mail.sent == {}

        status = await perdure.lifecycles.act(id, "remind")
        assert [(each.key, each.status) for each in status.tasks] == [("OPEN:remind", "pending")]
        await perdure.run_until_idle()
        assert mail.sent == {"please": 1}
        await perdure.lifecycles.act(id, "remind")
        await perdure.run_until_idle()
        assert mail.sent == {"please": 2}

        await perdure.lifecycles.transit(id, "CALLED")
        await perdure.run_until_idle()
        status = await perdure.lifecycles.get(id)
        assert (status.state, status.status) == ("DONE", "completed")
        assert mail.sent == {"please": 2, "thanks": 1, "bye": 1}
        assert [(each.key, each.attempt, each.status) for each in status.tasks] == [
            ("OPEN:remind", 1, "completed"), ("OPEN:remind", 2, "completed"), ("CALLED:thank", 1, "completed"),
            ("DONE:close", 1, "completed"),
        ]  # fmt: skip


async def test_an_action_that_fails_says_so_and_stops_nothing() -> None:
    mail = Mail()
    mail.is_broken = True
    async with office(mail) as perdure:
        id = (await perdure.lifecycles.start("care", "ana")).instance.id
        await perdure.lifecycles.transit(id, "CALLED")
        await perdure.run_until_idle()
        status = await perdure.lifecycles.get(id)
        assert status.status == "completed"
        assert [(each.key, each.status) for each in status.tasks] == [
            ("CALLED:thank", "failed"), ("DONE:close", "failed"),
        ]  # fmt: skip
        assert "the mailbox is gone" in status.tasks[0].error


async def test_an_action_of_another_state_or_one_under_way_is_refused() -> None:
    async with office(Mail()) as perdure:
        id = (await perdure.lifecycles.start("care", "ana")).instance.id
        with pytest.raises(RejectedError, match=r"state OPEN has no action of that name.*\n?.*remind"):
            await perdure.lifecycles.act(id, "thank")
        await perdure.lifecycles.act(id, "remind")
        with pytest.raises(RejectedError, match="it is being done"):
            await perdure.lifecycles.act(id, "remind")


async def test_cancelling_a_lifecycle_cancels_its_actions() -> None:
    mail = Mail()
    async with office(mail) as perdure:
        id = (await perdure.lifecycles.start("care", "ana")).instance.id
        await perdure.lifecycles.act(id, "remind")
        status = await perdure.lifecycles.cancel(id, reason="not needed")
        assert [each.status for each in status.tasks] == ["cancelled"]
        await perdure.run_until_idle()
        assert mail.sent == {}
