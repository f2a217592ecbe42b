"""What a migration keeps of an instance, and what it refuses because it could not be kept."""

from __future__ import annotations

import pytest

from perdure.bpmn import model as m
from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine.plan import Plan
from perdure.bpmn.machine.state import Instance
from tests.bpmn.machine.play import Player
from tests.bpmn.machine.test_compensation import end_job, service
from tests.bpmn.machine.test_found_at_random import OTHER, TWICE, plan_of_line, played

PERSON = m.Task(id="u", kind="user")


def migrated(player: Player, plan: Plan, mapping: dict[str, str] | None = None) -> Instance:
    player.machine.plans[plan.hash] = plan  # type: ignore[index]
    player.ask(c.Migrate(definition=plan.hash, version=2, mapping=mapping or {}, reason="new", worker=1))
    assert player.state is not None
    return player.state


@pytest.mark.req("O10")
@pytest.mark.parametrize("mapping", [{"a": "c", "b": "c"}, {"b": "c", "a": "c"}])
def test_runs_of_elements_mapped_to_one_are_counted_on_from_the_most(mapping: dict[str, str]) -> None:
    player = played(service("a", repeat=TWICE), service("b"), PERSON)
    for element in ("a", "a", "b"):
        end_job(player, element)
    state = migrated(player, plan_of_line(PERSON, service("c"), hash=OTHER), mapping)
    assert state.runs == {"a": 2, "b": 1, "c": 2}
