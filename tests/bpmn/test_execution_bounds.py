"""How often each task runs at most: by choices, forks, joins, loops, cycles, events and subprocesses."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.bpmn import model as m
from perdure.bpmn.execution_bounds import execution_bounds


def task(id: str, **more: Any) -> m.Task:
    return m.Task(id=id, kind="service", type=f"t.{id}", **more)


def start(id: str = "s") -> m.Event:
    return m.Event(id=id, position="start")


def end(id: str = "e") -> m.Event:
    return m.Event(id=id, position="end")


def gate(id: str, kind: Any) -> m.Gateway:
    return m.Gateway(id=id, kind=kind)


def many(text: str) -> m.MultiInstance:
    return m.MultiInstance(cardinality=m.Value(text))


def bounds(nodes: tuple[Any, ...], ways: str) -> dict[str, int | None]:
    """Of a process whose flows are written `s a, a e`."""
    pairs = [each.split() for each in ways.split(",")]
    flows = tuple(m.Flow(id=f"f{at}", source=one, target=other) for at, (one, other) in enumerate(pairs))
    return execution_bounds(m.Process(id="p", body=m.Scope(nodes=nodes, flows=flows))).times


@pytest.mark.req("O13")
@pytest.mark.parametrize(
    ("nodes", "ways", "expected"),
    [
        pytest.param((start(), task("a"), end()), "s a, a e", {"a": 1}, id="line"),
        pytest.param(
            (start(), gate("x", "exclusive"), task("a"), task("b"), gate("y", "exclusive"), task("c"), end()),
            "s x, x a, x b, a y, b y, y c, c e", {"a": 1, "b": 1, "c": 1}, id="choice",
        ),
        pytest.param(
            (start(), gate("x", "parallel"), task("a"), task("b"), gate("y", "parallel"), task("c"), end()),
            "s x, x a, x b, a y, b y, y c, c e", {"a": 1, "b": 1, "c": 1}, id="fork and join",
        ),
        pytest.param(
            (start(), gate("x", "parallel"), task("a"), task("b"), task("c"), end()),
            "s x, x a, x b, a c, b c, c e", {"a": 1, "b": 1, "c": 2}, id="fork without join",
        ),
        pytest.param(
            (start(), task("a", repeat=many("3")), task("b"), end()), "s a, a b, b e", {"a": 3, "b": 1}, id="loop"
        ),
        pytest.param(
            (start(), task("a", repeat=m.StandardLoop(maximum=4)), task("b", repeat=m.StandardLoop()), end()),
            "s a, a b, b e", {"a": 4, "b": None}, id="standard loops",
        ),
        pytest.param(
            (start(), task("a"), gate("x", "exclusive"), task("b"), end()),
            "s a, a x, x a, x b, b e", {"a": None, "b": 1}, id="cycle",
        ),
        pytest.param(
            (start(), task("a"), gate("x", "inclusive"), task("b"), end()),
            "s a, a x, x a, x b, b e", {"a": None, "b": None}, id="cycle that forks",
        ),
        pytest.param(
            (start(), task("a"), m.Event(id="k", position="boundary", attached_to="a", is_interrupting=False,
             triggers=(m.TimerTrigger("duration", m.Value("PT1H")),)), task("b"), task("c"), end(), end("f")),
            "s a, a c, c e, k b, b f", {"a": 1, "b": 1, "c": 1}, id="timer that does not interrupt",
        ),
        pytest.param(
            (start(), task("a"), m.Event(id="k", position="boundary", attached_to="a", is_interrupting=False,
             triggers=(m.MessageTrigger("m"),)), task("b"), end(), end("f")),
            "s a, a e, k b, b f", {"a": 1, "b": None}, id="message that does not interrupt",
        ),
    ],
)  # fmt: skip
def test_no_task_runs_more_often_than_its_bound(
    nodes: tuple[Any, ...], ways: str, expected: dict[str, int | None]
) -> None:
    assert bounds(nodes, ways) == expected


@pytest.mark.req("O13")
def test_loops_around_loops_multiply_and_reasons_are_told() -> None:
    inner = m.Scope(
        nodes=(start("i"), task("a", repeat=many("3")), task("b", repeat=many("=orch_n")), end("j")),
        flows=tuple(
            m.Flow(id=f"g{at}", source=one, target=other)
            for at, (one, other) in enumerate([("i", "a"), ("a", "b"), ("b", "j")])
        ),
    )
    inside = m.SubProcess(id="sub", body=inner, repeat=many("5"))
    flows = (m.Flow(id="f1", source="s", target="sub"), m.Flow(id="f2", source="sub", target="e"))
    made = execution_bounds(m.Process(id="p", body=m.Scope(nodes=(start(), inside, end()), flows=flows)))
    assert made.times == {"a": 15, "b": None}
    assert made.reasons == ("loop of b",)
