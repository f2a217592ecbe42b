"""Subscribers are told everything they want to hear, across restarts, and what cannot be delivered is a dead letter."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from perdure import Perdure
from perdure.app.configuration.project import load_config
from perdure.channels.webhook_delivery import VERB
from perdure.channels.webhook_settings import HookOut, Hooks, Secret
from perdure.channels.webhook_signatures import Signed, verify
from perdure.sources import SystemSources
from perdure.verbs.loader import load_text
from tests.channels.receiver import Receiver, answer

SECRET = "a secret of sixteen bytes and more"
VERBS = """
- name: greet
  description: Greet someone
  input_schema: {properties: {name: {type: string}}}
  execution: {kind: sync, effects: none}
"""

pytestmark = pytest.mark.req("P3")


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRM_SECRET", SECRET)


@asynccontextmanager
async def opened(url: str, receiver: Receiver, *events: str) -> AsyncIterator[Perdure]:
    hook = HookOut("crm", receiver.url, Secret(("CRM_SECRET",)), events=events or ("*",))
    hooks = Hooks(leaving=(hook,), allowed=("127.0.0.1",))
    handlers = {"greet": lambda call: {}}
    async with Perdure.open(url, definitions=load_text(VERBS), handlers=handlers, hooks=hooks) as perdure:
        while await perdure.runtime.store.cursors.read("default", "hook:crm") is None:
            await asyncio.sleep(0)
        yield perdure


async def told(receiver: Receiver, count: int) -> list[dict[str, Any]]:
    while len(receiver.received) < count:
        receiver.arrived.clear()
        await receiver.arrived.wait()
    return [json.loads(each.body) for each in receiver.received]


async def test_a_subscriber_is_told_what_it_wants_to_hear_and_nothing_of_being_told(store_url: str) -> None:
    async with Receiver().listening() as receiver, opened(store_url, receiver, "CallStarted") as perdure:
        first = await perdure.call("greet", {"name": "Ana"})
        await told(receiver, 1)
        await perdure.acting(tenant="other").call("greet", {})
        second = await perdure.call("greet", {"name": "Bo"})
        events = await told(receiver, 2)
        assert [event["data"]["id"] for event in events] == [first.id, second.id]
        assert all(event["type"] == "CallStarted" for event in events)
        assert b"Ana" not in receiver.received[0].body
        for got in receiver.received:
            assert isinstance(verify([SECRET.encode()], got.headers, got.body, SystemSources().now()), Signed)


async def test_what_happened_while_nobody_told_is_told_after_a_restart_once(store_url: str) -> None:
    async with Receiver().listening() as receiver:
        async with opened(store_url, receiver, "CallStarted") as perdure:
            await perdure.call("greet", {})
            await told(receiver, 1)
        async with Perdure.open(store_url, definitions=load_text(VERBS), handlers={"greet": lambda call: {}}) as silent:
            missed = await silent.call("greet", {})
        async with opened(store_url, receiver, "CallStarted") as perdure:
            events = await told(receiver, 2)
            assert events[1]["data"]["id"] == missed.id
            last = await perdure.call("greet", {})
            events = await told(receiver, 3)
            assert [event["data"]["id"] for event in events][2] == last.id
    ids = [got.headers["webhook-id"] for got in receiver.received]
    assert len(set(ids)) == 3


async def test_what_the_receiver_refuses_for_good_is_a_dead_letter_and_can_be_replayed(store_url: str) -> None:
    refusing = Receiver(answer(410), answer(200))
    async with refusing.listening() as receiver, opened(store_url, receiver, "CallStarted") as perdure:
        await perdure.call("greet", {})
        await told(receiver, 1)
        while not (letters := await perdure.dead_letters()):
            await asyncio.sleep(0)
        (letter,) = letters
        assert (letter["kind"], letter["key"]) == ("hook", "crm")
        await perdure.replay(letter["message_id"])
        events = await told(receiver, 2)
        assert events[0] == events[1]
        assert await perdure.dead_letters() == []
        ended = [await perdure.wait(call.id) for call in await perdure.find(VERB, hook="crm")]
        assert sorted(call.state for call in ended) == ["completed", "failed"]


def test_a_project_names_its_hooks_in_its_configuration(tmp_path: Path) -> None:
    file = tmp_path / "perdure.yaml"
    file.write_text("hooks:\n  out: [{name: crm, url: 'https://crm.example', secret_env: [CRM_SECRET]}]\n")
    assert load_config(file).hooks.leaving[0].name == "crm"


@pytest.mark.req("X21")
async def test_deliveries_are_counted(sqlite_url: str) -> None:
    async with Receiver().listening() as receiver, opened(sqlite_url, receiver, "CallStarted") as perdure:
        metrics = perdure.runtime.measure()
        await perdure.call("greet", {"name": "Ana"})
        await told(receiver, 1)
        line = b'perdure_webhook_deliveries_total{direction="out",outcome="delivered"} 1.0'
        while line not in metrics.render():
            await asyncio.sleep(0)


@pytest.mark.req("V18")
async def test_a_subscriber_is_told_outcome_events_where_it_asks_for_them_and_no_data_with_them(
    store_url: str,
) -> None:
    wanted = ("CallStarted", "outcome.*")
    async with Receiver().listening() as receiver, opened(store_url, receiver, *wanted) as perdure:
        call = await perdure.call("greet", {"name": "Ana"})
        bodies = await told(receiver, 3)
        types = sorted(each["type"] for each in bodies)
        assert types == ["CallStarted", "outcome.ExecutionResult", "outcome.StepStarted"]
        data = next(each["data"] for each in bodies if each["type"] == "outcome.ExecutionResult")
        assert (data["call"], data["text"], data["result"]) == (call.id, "ExecutionResult(ok)", None)
        assert data["cursor"] == [each.cursor async for each in perdure.outcome_events(call.id)][-1]


def test_a_subscriber_of_everything_is_told_the_journal_only() -> None:
    hook = HookOut("crm", "https://crm.example", Secret(("CRM_SECRET",)))
    assert hook.wants("StepParked") and not hook.wants("outcome.Parked") and not hook.wants_outcomes
