"""What a migration keeps of an instance, and what it refuses because it could not be kept."""

from __future__ import annotations

from typing import Literal

import pytest

from perdure.bpmn import model as m
from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine.execution_plan import Plan
from perdure.bpmn.machine.state import Instance
from perdure.errors import Rejection
from tests.bpmn.machine.play import ID, ORIGIN, Player
from tests.bpmn.machine.test_compensation import begun, end_job, plan, ran, service, status
from tests.bpmn.machine.test_found_at_random import OTHER, TWICE, plan_of_line, played

PERSON = m.Task(id="u", kind="user")


def migrated(player: Player, plan: Plan, mapping: dict[str, str] | None = None) -> Instance:
    player.machine.plans[plan.hash] = plan  # type: ignore[index]
    player.ask(c.Migrate(definition=plan.hash, version=2, mapping=mapping or {}, reason="new", worker=1))
    assert player.state is not None
    return player.state


def refused(player: Player, plan: Plan, mapping: dict[str, str] | None = None) -> str:
    """Why a migration is not possible."""
    player.machine.plans[plan.hash] = plan  # type: ignore[index]
    command = c.Migrate(definition=plan.hash, version=2, mapping=mapping or {}, worker=1)
    rejection = player.machine.decide(ID, player.state, command, ORIGIN, player.now, 0.5)
    assert isinstance(rejection, Rejection), rejection
    return rejection.fact


@pytest.mark.req("O10")
@pytest.mark.parametrize("mapping", [{"a": "c", "b": "c"}, {"b": "c", "a": "c"}])
def test_runs_of_elements_mapped_to_one_are_counted_on_from_the_most(mapping: dict[str, str]) -> None:
    player = played(service("a", repeat=TWICE), service("b"), PERSON)
    for element in ("a", "a", "b"):
        end_job(player, element)
    state = migrated(player, plan_of_line(PERSON, service("c"), hash=OTHER), mapping)
    assert state.runs == {"a": 2, "b": 1, "c": 2}


def branches(kind: Literal["parallel", "inclusive"], *elements: str) -> m.Scope:
    """Jobs beside each other until they meet, and one after that."""
    fork, join = m.Gateway(id="fork", kind="parallel"), m.Gateway(id="join", kind=kind)
    start, end = m.Event(id="start", position="start"), m.Event(id="end", position="end")
    pairs = [("start", "fork"), ("join", "last"), ("last", "end")]
    pairs += [pair for each in elements for pair in (("fork", each), (each, "join"))]
    flows = tuple(m.Flow(id=f"{one}-{two}", source=one, target=two) for one, two in pairs)
    return m.Scope(nodes=(start, fork, *map(service, elements), join, service("last"), end), flows=flows)


@pytest.mark.req("O10")
@pytest.mark.parametrize("kind", ["parallel", "inclusive"])
@pytest.mark.parametrize("came", [("b",), ("a", "b")], ids=["can come", "has come"])
def test_a_token_at_a_join_takes_no_flow_of_another(
    kind: Literal["parallel", "inclusive"], came: tuple[str, ...]
) -> None:
    player = begun(branches(kind, "a", "b", "c"))
    for element in came:
        end_job(player, element)
    fewer = plan(branches(kind, "a", "c"), hash=OTHER)
    for mapping in ({}, {"b-join": "a-join"}, {"b-join": "c-join"}):
        assert "take that token away first with modify" in refused(player, fewer, mapping)
    assert player.state is not None
    token = next(node.number for node in player.state.nodes.values() if node.flow == "b-join")
    player.ask(c.Modify(cancels=(token,), reason="its branch is gone", worker=1))
    migrated(player, fewer)
    for element in ("a", "c", "last"):
        if element not in came:
            end_job(player, element)
    assert (status(player), sorted(ran(player))) == ("completed", ["a.verb", "b.verb", "c.verb", "last.verb"])


@pytest.mark.req("O10")
def test_a_token_at_a_join_may_take_a_flow_that_is_free() -> None:
    player = begun(branches("parallel", "a", "b"))
    end_job(player, "b")
    migrated(player, plan(branches("parallel", "a", "d"), hash=OTHER), {"b-join": "d-join"})
    end_job(player, "a")
    end_job(player, "last")
    assert status(player) == "completed"


def in_turn(*elements: str, ordering: Literal["sequential", "parallel"] = "sequential") -> m.SubProcess:
    body = m.Scope(nodes=tuple(map(service, elements)), flows=())
    return m.SubProcess(id="ad-hoc", kind="ad_hoc", ordering=ordering, body=body)


@pytest.mark.req("O10")
def test_activities_in_turn_that_have_begun_keep_their_places_or_the_migration_is_refused() -> None:
    player = played(in_turn("a", "b", "c"))
    end_job(player, "a")
    for moved in (in_turn("x", "a", "b", "c"), in_turn("b", "a", "c"), in_turn("b", "c")):
        told = refused(player, plan_of_line(moved, hash=OTHER))
        assert "'ad-hoc' that have begun (a, b) are not the first of 'ad-hoc'" in told
    at_once = plan_of_line(in_turn("a", "b", "c", ordering="parallel"), hash=OTHER)
    assert "would never begin" in refused(player, at_once)
    migrated(player, plan_of_line(in_turn("a2", "b", "x", "c", "y"), hash=OTHER), {"a": "a2"})
    for element in ("b", "x", "c", "y"):
        end_job(player, element)
    assert (status(player), ran(player)) == ("completed", ["a.verb", "b.verb", "x.verb", "c.verb", "y.verb"])
