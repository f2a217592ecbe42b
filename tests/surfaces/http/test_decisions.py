"""Answers that decide, over HTTP: what they add to a plan is held to the rules of extending it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from perdure.access.principal import Principal
from perdure.app.webhooks.incoming_webhooks import receive
from perdure.channels.webhook_settings import HookIn, Hooks, Secret
from perdure.channels.webhook_signatures import sign
from perdure.errors import RejectedError
from perdure.verbs.agent_handlers import Agent
from perdure.verbs.handlers import Call, Decide
from tests.surfaces.http.sandbox_server import Server, person, served

VERBS = """
- name: d.weigh
  description: Decide what to do next
  execution: {kind: durable, decision: true, correlation: {key: scales}}
- name: d.ask
  description: Let somebody decide
  execution: {kind: durable, decision: true, task: {title: Decide, groups: [seniors]}}
- name: d.propose
  description: Let an agent decide, as far as it may
  execution: {kind: sync, decision: true, agent: {confidence: 0.9, ask: seniors}}
- name: d.look
  description: Look
  consequence: benign
  execution: {kind: sync, effects: none}
- name: d.pay
  description: Pay
  consequence: requires_confirmation
  execution: {kind: sync, effects: none}
- name: vault.open
  description: Open the vault
  consequence: benign
  execution: {kind: sync, effects: none}
"""
HOOKS = Hooks((HookIn("bank", Secret(("HOOK_SECRET",)), principal="hook:bank", verbs=("d.*",)),))
SECRET = "a secret of sixteen bytes and more"
ROBOT = person("robot", "operator", "reviewer", "author", kind="service", groups=("seniors",))
SMALL = person("small", "operator", "reviewer", "author", verbs=("d.*",), groups=("seniors",))
GRAVE: list[Any] = [
    [{"verb": "d.pay"}],
    [{"verb": "d.look", "on_failure": "decide", "alternative": "d.pay"}],
    [{"verb": "pay"}],
    "LET paid = EXEC d.pay()",
]
BENIGN = [{"verb": "d.look", "name": "look"}]

pytestmark = pytest.mark.req("P3", "O13")


class Unsure(Agent):
    """Proposes what a narrow key does not reach."""

    async def decide(self, call: Call) -> Decide:
        return Decide({}, add=[{"verb": "vault.open", "name": "opened"}], confidence=0.1)


def office(url: str = "sqlite://", *more: Principal) -> Any:
    done: dict[str, Any] = {each: (lambda call: {}) for each in ("d.look", "d.pay", "vault.open")}
    return served(url, VERBS, people=[ROBOT, SMALL, *more], handlers={**done, "d.propose": Unsure()})


async def begun(server: Server, verb: str) -> str:
    started = await server.of("ada").post("/api/runbooks", {"calls": [{"verb": verb, "name": "asked"}]}, 201)
    await server.idle()
    return str(started["id"])


async def steps(server: Server, id: str) -> dict[str, str]:
    await server.idle()
    return {step.name: step.state for step in (await server.sandbox.runbooks.show(id)).steps}


@pytest.mark.parametrize("added", GRAVE)
async def test_a_service_that_completes_a_decision_adds_nothing_grave(added: Any) -> None:
    async with office() as server:
        id = await begun(server, "d.weigh")
        robot = server.of("robot")
        for key in ("scales", f"{id}:1", id, "too-early"):
            answer = await robot.ask("POST", "/api/completions", json={"key": key, "result": {"add": added}})
            assert answer.status_code in (404, 423), answer.text
            assert answer.json()["code"] in ("command.blocked", "command.not_found")
        assert await server.sandbox.dead_letters() == []
        assert await steps(server, id) == {"asked": "parked"}
        await robot.post("/api/completions", {"key": "scales", "result": {"add": BENIGN}}, 202)
        assert await steps(server, id) == {"asked": "completed", "look": "completed"}


async def test_who_decides_adds_only_verbs_their_key_reaches(store_url: str) -> None:
    async with office(store_url) as server:
        id = await begun(server, "d.weigh")
        body = {"key": "scales", "result": {"add": [{"verb": "vault.open", "name": "opened"}]}}
        refused = await server.of("small").post("/api/completions", body, 403)
        assert "vault.open" in refused["detail"]
        token = (await server.of("ada").post("/api/parked/scales/token"))["token"]
        await server.waiting(token).post("/api/completions", body, 403)
        assert await steps(server, id) == {"asked": "parked"}
        await server.of("olga").post("/api/completions", body, 202)
        assert await steps(server, id) == {"asked": "completed", "opened": "completed"}


async def test_a_task_that_decides_is_completed_within_the_same_bounds(store_url: str) -> None:
    async with office(store_url) as server:
        id = await begun(server, "d.ask")
        path = f"/api/tasks/{id}:1/complete"
        await server.of("robot").post(path, {"data": {"add": [{"verb": "d.pay"}]}}, 423)
        await server.of("small").post(path, {"data": {"add": [{"verb": "vault.open"}]}}, 403)
        assert await steps(server, id) == {"asked": "parked"}
        await server.of("sue").post(path, {"data": {"add": [{"verb": "d.pay", "name": "paid"}]}})
        assert await steps(server, id) == {"asked": "completed", "paid": "completed"}


async def test_what_an_agent_proposes_is_accepted_by_persons_whose_key_reaches_it(store_url: str) -> None:
    async with office(store_url) as server:
        id = await begun(server, "d.propose")
        path = f"/api/tasks/{id}:1"
        for name in ("small", "robot"):
            await server.of(name).post(f"{path}/accept", {}, 403)
        await server.of("robot").post(f"{path}/complete", {"data": {}}, 403)
        for key in (id, f"{id}:1"):
            await server.of("robot").post("/api/completions", {"key": key, "result": {}}, 403)
        assert await steps(server, id) == {"asked": "parked"}
        await server.of("sue").post(f"{path}/accept")
        assert await steps(server, id) == {"asked": "completed", "opened": "completed"}


async def test_a_dead_letter_is_replayed_into_a_decision_within_the_bounds_of_who_replays(store_url: str) -> None:
    async with office(store_url) as server:
        early = {"key": "scale", "message_id": "m-1", "result": {"add": [{"verb": "d.pay", "name": "paid"}]}}
        await server.of("olga").post("/api/completions", early, 404)
        id = await begun(server, "d.weigh")
        await server.of("robot").post("/api/dead-letters/m-1/replay", {"key": "scales"}, 423)
        assert await steps(server, id) == {"asked": "parked"}
        await server.of("olga").post("/api/dead-letters/m-1/replay", {"key": "scales"})
        assert await steps(server, id) == {"asked": "completed", "paid": "completed"}


async def test_a_hook_adds_nothing_grave_and_the_wait_stays_open(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    async with office(store_url) as server:
        id = await begun(server, "d.weigh")

        async def post(added: Any, message: str) -> str:
            body = json.dumps({"key": "scales", "result": {"add": added}}).encode()
            headers = sign(SECRET.encode(), message, server.sandbox.runtime.sources.now(), body)
            return (await receive(server.sandbox, HOOKS, "bank", headers, body)).outcome

        for number, added in enumerate(GRAVE):
            with pytest.raises(RejectedError):
                await post(added, f"m-{number}")
        assert await steps(server, id) == {"asked": "parked"}
        assert await post(BENIGN, "m-9") == "applied"
        assert await steps(server, id) == {"asked": "completed", "look": "completed"}
