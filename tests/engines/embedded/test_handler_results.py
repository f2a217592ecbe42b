"""What a handler gave back counts as it was checked, whatever becomes of its objects; forms are the caller's own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from perdure.app.perdure import Perdure
from perdure.bpmn.machine.journal_entries import JobCompleted
from perdure.journal import Origin
from perdure.verbs import Call, Result, load_text
from tests.engines.embedded.process_models import END, START, flow, fork, line, model, service, user

VERBS = """
verbs:
- name: t.one
  input_schema: {properties: {given: {type: integer}}}
  output_schema: {properties: {answer: {type: integer, maximum: 100}}, required: [answer]}
  execution: {kind: sync}
- name: t.intake
  input_schema: {properties: {answer: {type: string}, tags: {type: array}}, required: [answer, tags]}
  execution: {kind: sync}
- {name: t.a, execution: {kind: sync, payload: {max_bytes: 16000000}}}
- {name: t.b, execution: {kind: sync, payload: {max_bytes: 16000000}}}
- name: t.large
  execution: {kind: durable, process: large, sub_verbs: [t.a, t.b], payload: {max_bytes: 16000000}}
"""
ORIGIN = Origin("default", "local")
COUNT = 5


def opened(url: str, **handlers: Callable[[Call], Any]) -> Any:
    bound = {f"t.{name}": handler for name, handler in handlers.items()}
    return Perdure.open(url, definitions=load_text(VERBS), handlers=bound)


async def results_of(url: str, handler: Callable[[Call], Any]) -> list[Any]:
    """Of several instances at once: what each has, and its flags."""
    async with opened(url, one=handler) as perdure:
        await perdure.runtime.engine.deploy(line("p", service("a", "t.one"), user("review")), ORIGIN)
        starts = [perdure.instances.start("p", {"given": n}, until="rest") for n in range(COUNT)]
        return [(view.data["answer"], view.flags) for view in await asyncio.gather(*starts)]


async def test_a_handler_may_fill_one_object_again_and_again(store_url: str) -> None:
    template: dict[str, int] = {}

    async def refill(call: Call) -> dict[str, int]:
        template["answer"] = call.args["given"]
        return template

    assert await results_of(store_url, refill) == [(n, {}) for n in range(COUNT)]


@pytest.mark.req("V8")
async def test_what_a_handler_makes_of_its_result_afterwards_reaches_nothing(store_url: str) -> None:
    async def late(call: Call) -> Result:
        made = Result({"answer": 1})
        asyncio.get_running_loop().call_soon(made.data.update, {"answer": 100_000})
        return made

    assert await results_of(store_url, late) == [(1, {})] * COUNT


async def test_flags_are_those_that_were_checked(store_url: str) -> None:
    flags: dict[str, Any] = {}

    async def refill(call: Call) -> Result:
        flags["orch_n"] = call.args["given"]
        return Result({"answer": 1}, flags)

    assert await results_of(store_url, refill) == [(1, {"orch_n": n}) for n in range(COUNT)]


@pytest.mark.req("V32")
async def test_who_changes_a_form_in_place_changes_neither_data_nor_verbs(store_url: str) -> None:
    given: list[dict[str, Any]] = []

    async def intake(call: Call) -> dict[str, Any]:
        given.append(dict(call.args))
        return {"answered": call.args["answer"]}

    async with opened(store_url, intake=intake) as perdure:
        await perdure.runtime.engine.deploy(line("p", user("review", properties={"intake": "t.intake"})), ORIGIN)
        view = await perdure.instances.start("p", {"tags": ["a"]}, until="rest")
        key = f"{view.id}:{view.tokens[0].number}"
        task = await perdure.tasks.get(key)
        task.known["tags"].append("never sent")
        task.form["properties"].pop("answer")
        done = await perdure.tasks.complete(key, {"answer": "yes"}, until="end")
        assert done.data == {"tags": ["a"], "answered": "yes"}
    assert given == [{"answer": "yes", "tags": ["a"]}]


async def test_branches_of_what_fills_most_of_the_memory_are_recorded(sqlite_url: str) -> None:
    first, second = asyncio.Event(), asyncio.Event()

    async def a(call: Call) -> dict[str, int]:
        return {"a": 1}

    async def b(call: Call) -> dict[str, int]:
        await second.wait()
        return {"b": 1}

    nodes = (START, fork("f"), service("a", "t.a"), service("b", "t.b"), fork("j"), END)
    pairs = (("start", "f"), ("f", "a"), ("f", "b"), ("a", "j"), ("b", "j"), ("j", "end"))
    async with opened(sqlite_url, a=a, b=b) as perdure:
        await perdure.runtime.engine.deploy(model("large", nodes, tuple(flow(*each) for each in pairs)), ORIGIN)
        perdure.runtime.kernel.hear([JobCompleted], lambda aggregate, entry: first.set())
        view = await perdure.instances.start("large", {"pad": "x" * 9_000_000})
        await first.wait()
        second.set()
        done = await perdure.instances.wait(view.id, "rest")
        assert (done.state, done.incidents, done.data["a"], done.data["b"]) == ("completed", [], 1, 1)
