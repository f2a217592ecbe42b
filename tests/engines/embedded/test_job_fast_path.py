"""The straight way of a job and the one step by step: whoever looks cannot tell which was gone."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.engines.embedded.jobs.attempt_execution import Attempt
from perdure.testing.virtual_clock import VirtualSources
from perdure.verbs import Call, Result
from perdure.verbs.handlers import LateCall
from tests.engines.embedded.engine_world import ORIGIN, Handlers, opened
from tests.engines.embedded.process_models import line, service, times

VERBS = """
verbs:
- name: s.plain
  input_schema: {properties: {given: {type: integer}, more: {type: string}}, required: [given]}
  output_schema: {properties: {found: {type: integer}}}
  execution: {kind: sync}
- name: s.own
  input_schema: {properties: {people: {type: array}}}
  execution: {kind: sync}
- {name: s.all, execution: {kind: sync}}
- name: s.filled
  input_schema: {properties: {given: {type: integer}, how: {type: string, default: kindly}}}
  execution: {kind: sync}
- name: s.brief
  output_schema: {properties: {found: {type: integer}}}
  execution: {kind: sync, payload: {max_bytes: 1100}}
- name: s.small
  input_schema: {properties: {more: {type: string}}}
  execution: {kind: sync, payload: {max_bytes: 1024}}
"""
PEOPLE = [{"name": "Ana"}]
GIVEN = {"given": 3, "more": "words", "people": PEOPLE}
PARTICULARS = [each for each in Call.__slots__ if not each.startswith("_")]


class Looking(Handlers):
    """Writes down everything that its handlers can see."""

    def __init__(self, result: Any) -> None:
        super().__init__()
        self.result, self.calls = result, list[dict[str, Any]]()
        self.straight: list[bool] = []

    async def plain(self, call: Call) -> Any:
        self.straight.append(isinstance(call, LateCall))
        self.calls.append({name: getattr(call, name) for name in PARTICULARS} | {"args": dict(call.args)})
        if "people" in call.args:
            call.args["people"].append("changed in place")
        call.args["given"] = "changed in place"
        return self.result


async def told(looking: Looking, data: dict[str, Any], *nodes: Any) -> Any:
    async with opened(handlers=looking, verbs=VERBS, clock=VirtualSources()) as world:
        await world.deploy(line("p", *nodes))
        begun = await world.start("p", data=data)
        history = await world.instances.history(begun.id, ORIGIN)
        return looking.calls, history, begun.state, await world.data(begun)


async def both(monkeypatch: pytest.MonkeyPatch, result: Any, data: dict[str, Any], *nodes: Any) -> list[bool]:
    straight, step_by_step = Looking(result), Looking(result)
    one = await told(straight, data, *nodes)
    with monkeypatch.context() as patched:
        patched.setattr(Attempt, "_attempt", Attempt._attempt_step_by_step)
        other = await told(step_by_step, data, *nodes)
    assert one == other and not any(step_by_step.straight)
    return straight.straight


@pytest.mark.parametrize("result", [
    {"found": 1}, {"found": "no number"}, {}, None, [1], "text", {"found": float("nan")}, {"found": 1, "x": object()},
    Result({"found": 1}), Result({"found": 1}, {"orch_unknown": True}), Result(None), Result([1]),
])  # fmt: skip
async def test_a_job_goes_either_way_with_the_same_outcome(monkeypatch: pytest.MonkeyPatch, result: Any) -> None:
    went = await both(monkeypatch, result, GIVEN, service("a", "s.plain"))
    assert went == [True]


@pytest.mark.parametrize("data", [{}, {"given": "no number"}, {"given": None}, {"given": 1.5}, {"given": 7}])
async def test_what_fits_and_what_does_not_is_told_the_same(
    monkeypatch: pytest.MonkeyPatch, data: dict[str, Any]
) -> None:
    went = await both(monkeypatch, {"found": 1}, data, service("a", "s.plain"))
    assert went == ([True] if data == {"given": 7} else [])


@pytest.mark.parametrize("verb", ["s.own", "s.all", "s.filled", "s.small"])
async def test_arguments_that_are_more_than_fields_go_step_by_step(monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    went = await both(monkeypatch, {}, GIVEN, service("a", verb), service("b", verb))
    assert went == [False, False]


async def test_a_verb_that_names_no_argument_is_given_all_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    flat = {"given": 3, "more": "words", "none": None}
    went = await both(monkeypatch, {"found": 1}, flat, service("a", "s.all"), service("b", "s.all"))
    assert went == [True, True]


async def test_branches_and_iterations_see_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    went = await both(
        monkeypatch, {"found": 1}, GIVEN,
        service("a", "s.plain"), service("each", "s.plain", repeat=times(2)), service("b", "s.plain"),
    )  # fmt: skip
    assert went == [True, False, False, True]


@pytest.mark.parametrize("length", [1000, 2000])
async def test_a_result_that_is_too_large_is_refused_the_same(monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    looking = Looking({"found": 1, "long": "x" * length})
    _, _, state, data = await told(looking, GIVEN, service("a", "s.brief"))
    assert state.status == ("completed" if length == 1000 else "active") and ("long" in data) is (length == 1000)
    await both(monkeypatch, looking.result, GIVEN, service("a", "s.brief"))
