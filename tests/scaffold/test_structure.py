"""Statements do what the flows say: whatever a gateway decides, the same steps follow in the same order."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from perdure.bpmn.conditions.tree import Compare
from perdure.bpmn.contract import Contract, Work
from perdure.bpmn.contract.elements import TASK, WORKFLOW, task_definition, workflow_definition
from perdure.bpmn.model import Event, Extension, Flow, Gateway, Node, Process, Scope, Task
from perdure.errors import RejectedError
from perdure.scaffold.program import Again, Body, Choice, Do, End, Leave, Loop
from perdure.scaffold.structure import program_of

MOST_STEPS = 40


def contract(size: int, seed: int) -> Contract:
    """A process of tasks and exclusive gateways whose flows lead anywhere; the last node is its end."""
    chance = Random(seed)
    kinds = ["end" if at == size else chance.choice(["task", "gateway"]) for at in range(size + 1)]
    nodes: list[Node] = [Event(id="start", position="start")]
    flows = [Flow(id="begin", source="start", target="n0")]
    for at, kind in enumerate(kinds):
        id, ahead = f"n{at}", f"n{min(at + 1, size)}"
        if kind == "end":
            nodes.append(Event(id=id, position="end"))
        elif kind == "task":
            nodes.append(Task(id=id, kind="service"))
            flows.append(Flow(id=f"{id}_on", source=id, target=ahead))
        else:
            other = f"n{chance.randrange(size + 1)}"
            condition = Compare("state.x", "=", id)
            nodes.append(Gateway(id=id, kind="exclusive", default=f"{id}_default"))
            flows.append(Flow(id=f"{id}_chosen", source=id, target=other, condition=condition))
            flows.append(Flow(id=f"{id}_default", source=id, target=ahead))
    work = {
        node.id: Work(node=node, definition=task_definition(Extension(TASK, {"type": node.id})))
        for node in nodes
        if isinstance(node, Task)
    }
    conditions = {flow.id: flow.condition for flow in flows if flow.condition is not None}
    process = Process(id="p", body=Scope(nodes=tuple(nodes), flows=tuple(flows)))
    definition = workflow_definition(Extension(WORKFLOW), "p")
    return Contract(process=process, workflow=definition, work=work, conditions=conditions)


class Decisions:
    """Says what each gateway decides, by how often it was asked."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._asked: Counter[str] = Counter()

    def holds(self, gateway: str) -> bool:
        self._asked[gateway] += 1
        return Random(f"{self._seed}/{gateway}/{self._asked[gateway]}").random() < 0.5


def walked(contract: Contract, decisions: Decisions) -> list[str]:
    """The steps by following flows."""
    flows = contract.process.body.flows
    at, steps = "n0", list[str]()
    for _ in range(1000):
        ways = [flow for flow in flows if flow.source == at]
        if at in contract.work:
            steps.append(at)
        if not ways or len(steps) >= MOST_STEPS:
            break
        at = ways[0].target if len(ways) == 1 or decisions.holds(at) else ways[1].target
    return steps


class _Ended(Exception):
    """The statements came to an end, or did enough."""


class _Left(Exception):
    pass


class _Repeated(Exception):
    pass


def executed(body: Body, decisions: Decisions) -> list[str]:
    """The steps by doing statements."""
    steps: list[str] = []
    with suppress(_Ended):
        _do(body, decisions, steps, [0])
    return steps


def _do(body: Body, decisions: Decisions, steps: list[str], turns: list[int]) -> None:
    for each in body:
        turns[0] += 1
        if turns[0] > 5000:
            raise _Ended
        match each:
            case Do(node=node):
                steps.append(node)
                if len(steps) >= MOST_STEPS:
                    raise _Ended
            case Choice(node=node, arms=arms):
                _do(arms[0].body if decisions.holds(node) else arms[1].body, decisions, steps, turns)
            case Loop(body=inner):
                _loop(inner, decisions, steps, turns)
            case Leave():
                raise _Left
            case Again():
                raise _Repeated
            case End():
                raise _Ended
            case _:
                pytest.fail(f"unexpected {each}")


def _loop(body: Body, decisions: Decisions, steps: list[str], turns: list[int]) -> None:
    while True:
        try:
            _do(body, decisions, steps, turns)
        except _Left:
            return
        except _Repeated:
            continue


@pytest.mark.req("B10")
@given(size=st.integers(1, 9), seed=st.integers(0, 10**6), choice=st.integers(0, 10**6))
def test_statements_do_what_flows_say(size: int, seed: int, choice: int) -> None:
    made = contract(size, seed)
    try:
        program = program_of(made)
    except RejectedError:
        assume(False)
    assert executed(program.body, Decisions(choice)) == walked(made, Decisions(choice))


def test_most_random_processes_have_statements() -> None:
    written = 0
    for seed in range(200):
        with suppress(RejectedError):
            program_of(contract(7, seed))
            written += 1
    assert written > 120
