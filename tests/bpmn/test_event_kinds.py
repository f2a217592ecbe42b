"""Event kinds: the file, the pictures, the lint rule and the machine know the same ones."""

from __future__ import annotations

from typing import get_args

import pytest

from perdure.bpmn import model as m
from perdure.bpmn.lint.rules.event_kind import _KINDS
from perdure.bpmn.machine.event_subscriptions import WATCHED
from perdure.bpmn.xml import read_model, write_model
from tests.bpmn.svg.elements import BOUNDARY, EVENTS, TRIGGERS


def test_every_kind_is_pictured() -> None:
    assert {type(trigger) for trigger in TRIGGERS.values()} == set(get_args(m.Trigger))


@pytest.mark.parametrize("kind", TRIGGERS)
def test_a_kind_that_is_written_reads_back_as_the_same(kind: str) -> None:
    event = m.Event(id="event", position="end", triggers=(TRIGGERS[kind],))
    names = m.Message(id="m", name="m"), m.Signal(id="s", name="s")
    process = m.Process(id="process", body=m.Scope(nodes=(event,)))
    model = m.Model(definitions=m.Definitions(id="file", processes=(process,), messages=names[:1], signals=names[1:]))
    assert read_model(write_model(model)).definitions.processes[0].body.nodes == (event,)


def test_the_rule_allows_the_kinds_that_are_pictured() -> None:
    pictured = {position: set(kinds) - {"none"} for position, kinds in {**EVENTS, "boundary": BOUNDARY}.items()}
    allowed = {**_KINDS, "start": _KINDS["start"] | _KINDS["event subprocess start"]}
    del allowed["event subprocess start"]
    assert allowed == pictured


def test_the_machine_waits_for_every_kind_that_is_caught() -> None:
    assert {type(TRIGGERS[kind]) for kind in EVENTS["catch"]} - {m.LinkTrigger} == set(WATCHED)
