"""The router: however a handler ends, the attempt ends too."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec.structs import asdict, replace

from perdure import Agent, Perdure
from perdure.errors import Transient
from perdure.testing import Sandbox
from perdure.verbs import Call, Catalogue, HandlerRegistry, Result, Verb, load_text
from perdure.verbs.handlers import Decide
from perdure.work.failure_classes import Failed
from perdure.work.verb_router import Produced, Router
from tests.runbooks.sample_verbs import catalogue
from tests.scenarios.sketch import sketches

DEFINITIONS = """
- name: odd.handler
  description: Ends in an odd way
  execution: {kind: sync}
"""


def stops(call: Any) -> dict[str, Any]:
    return next(iter([]))


async def waits_for_something_cancelled(call: Any) -> dict[str, Any]:
    other = asyncio.get_running_loop().create_future()
    other.cancel()
    return await other


@pytest.mark.req("V16")
@pytest.mark.parametrize("handler", [stops, waits_for_something_cancelled])
async def test_a_handler_that_ends_oddly_has_failed(sqlite_url: str, handler: Any) -> None:
    async with Perdure.open(sqlite_url, definitions=catalogue(DEFINITIONS), handlers={"odd.handler": handler}) as it:
        async with asyncio.timeout(30):
            view = await it.call("odd.handler")
        assert view.error is not None and (view.state, view.error.code) == ("failed", "handler.error")


@pytest.mark.req("V16")
async def test_an_outcome_that_cannot_be_recorded_is_an_incident_not_a_job_that_runs_for_ever(sqlite_url: str) -> None:
    retries = DEFINITIONS.replace("kind: sync", "kind: sync, retry: {max_attempts: 3}")

    async def odd(call: Any) -> dict[str, Any]:
        raise Transient("later", after=float("inf"))

    async with Perdure.open(sqlite_url, definitions=catalogue(retries), handlers={"odd.handler": odd}) as it:
        view = await it.call("odd.handler")
        assert view.waiting_for is not None and view.waiting_for.code == "attempt.unrecorded"


SHAPED = """
- name: shaped.handler
  output_schema: {properties: {found: {type: integer}, filled: {type: string, default: so}}}
  execution: {kind: sync, payload: {max_bytes: 100}}
- name: narrow.handler
  output_schema: {properties: {found: {type: integer}}}
  execution: {kind: sync, payload: {max_bytes: 100}}
- name: open.handler
  execution: {kind: sync, payload: {max_bytes: 100}}
- name: long.handler
  execution: {kind: durable, payload: {max_bytes: 100}}
"""
GIVEN_BACK: list[Any] = [
    None, {}, [], "text", {"found": 1}, {"found": "one"}, {"found": 1, "long": "x" * 200}, {"odd": {1, 2}}, {1: 2},
    {"odd": float("inf")}, Result({"found": 1}, {"orch_seen": True}), Result({"found": 1}, {"not a flag": True}),
    Result({"found": "one"}), Result([1]), Result(None), Decide({"found": 1}), OrderedDict(found=1),
]  # fmt: skip


@pytest.mark.parametrize("name", ["shaped.handler", "narrow.handler", "open.handler", "long.handler"])
async def test_what_fits_at_once_is_what_is_found_to_fit_step_by_step(name: str) -> None:
    for given_back in GIVEN_BACK:

        async def gives(call: Any, given_back: Any = given_back) -> Any:
            return given_back

        verb = load_text(SHAPED).get(name)
        registry = HandlerRegistry.collect([], Catalogue([verb.definition]), {name: gives})
        router = Router(registry, lambda *whose: whose, has_threads=False)
        at_once = await router.run(verb, _call(verb))
        router._bound[verb.content_hash] = replace(router._bound[verb.content_hash], fits=lambda value: False)
        assert _told(await router.run(verb, _call(verb))) == _told(at_once), given_back


def _call(verb: Verb) -> Call:
    return Call(
        verb=verb.name, version=1, args={}, call_id="c", step_id="s", tenant="t", principal="p", trace=None,
        idempotency_key="k", attempt=1,
    )  # fmt: skip


def _told(made: Produced | Failed) -> Any:
    told = asdict(made)
    if isinstance(made, Produced):
        told["cargo"] = (made.cargo.data, made.cargo.value)
    return told


ROADS = """
- {name: r.once, execution: {kind: sync, effects: none, compensate: r.undo}}
- {name: r.undo, execution: {kind: sync, effects: none}}
- {name: r.outside, execution: {kind: sync, effects: external}}
- {name: r.decide, execution: {kind: sync, effects: none, decision: true}}
- {name: r.agent, execution: {kind: sync, effects: none, agent: {}}}
- {name: r.job, execution: {kind: sync, effects: none}}
- {name: r.intake, execution: {kind: sync, effects: none}}
- {name: r.ask, execution: {kind: durable}}
- {name: r.carried, execution: {kind: durable, process: carried, sub_verbs: [r.job, r.intake]}}
"""
CARRIED = """
== carried
start s
service a r.job
user b intake=r.intake
end e
s > a > b > e
"""


@pytest.mark.req("V12")
async def test_whatever_asks_for_a_verb_its_handler_is_run_by_the_one_router(store_url: str) -> None:
    ran, routed = list[str](), list[str]()

    def handler(name: str) -> Any:
        async def run(call: Call) -> Any:
            ran.append(name)
            return Decide({}) if name == "r.decide" else {}

        return run

    class Judge(Agent):
        async def decide(self, call: Call) -> Any:
            ran.append(call.verb)
            return {}

    @asynccontextmanager
    async def attempt(call: Call) -> AsyncIterator[None]:
        routed.append(call.verb)
        yield

    names = ["r.once", "r.outside", "r.undo", "r.decide", "r.agent", "r.job", "r.intake", "r.ask"]
    handlers: dict[str, Any] = {name: Judge() if name == "r.agent" else handler(name) for name in names}
    async with Sandbox.open(store_url, definitions=load_text(ROADS), handlers=handlers) as sandbox:
        sandbox.runtime.router.around = attempt
        await sandbox.processes.deploy_all(list(sketches(CARRIED).values()))
        for called in ("r.once", "r.outside", "r.agent", "r.ask"):
            await sandbox.call(called)
        plan = await sandbox.runbooks.start(
            "(r.once :as @a) (r.decide :after [@a]) (r.carried :as @c) (r.ask) (r.outside) (r.agent)"
        )
        await sandbox.run_until_idle()
        (task,) = await sandbox.tasks.list()
        await sandbox.tasks.complete(task.key, {})
        await sandbox.run_until_idle()
        await sandbox.runbooks.cancel(plan.id, "enough", compensate=True)
        await sandbox.run_until_idle()
        assert set(ran) == set(names), "every road was taken"
        assert routed == ran, "and none went past the router"
