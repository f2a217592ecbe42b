"""Repetition without a wait: broken off after so many moves, shown to a person, and gone on with when they say so."""

from __future__ import annotations

import pytest

from perdure.bpmn import model as m
from perdure.bpmn.conditions.parser import parse_condition
from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.event_subscriptions import INVALID
from perdure.bpmn.machine.state import Node
from perdure.bpmn.machine.token_game_loop import ENDLESS
from tests.bpmn.machine.play import Player
from tests.bpmn.machine.test_compensation import begun, end_job, ran, scope, service, status

ROUNDS = 30
AT_ONCE = m.MultiInstance(m.Value(str(ROUNDS)))
IN_TURN = m.MultiInstance(m.Value(str(ROUNDS)), is_sequential=True)
LOOP = m.StandardLoop(maximum=ROUNDS)
FOR_EVER = m.StandardLoop(condition=parse_condition("orch_x = true"))


def repeated(repeats: m.MultiInstance | m.StandardLoop, is_sub: bool) -> m.Node:
    if not is_sub:
        return m.Task(id="a", repeat=repeats)
    return m.SubProcess(id="a", body=scope((m.Task(id="t"), m.Task(id="u"))), repeat=repeats)


def played(monkeypatch: pytest.MonkeyPatch, most: int, *nodes: m.Node) -> Player:
    monkeypatch.setattr("perdure.bpmn.machine.token_game_loop.MAX_MOVES", most)
    return begun(scope(nodes))


def stuck(player: Player) -> list[Node]:
    assert player.state is not None
    return [node for node in player.state.nodes.values() if node.incident is not None]


def retry(player: Player, **flags: bool) -> None:
    player.reopen()
    for node in stuck(player):
        assert node.incident is not None and node.incident.code == ENDLESS
        player.ask(c.RetryIncident(node=node.number, flags=flags, worker=1))


def passed(player: Player, element: str) -> int:
    kinds = ("many", "loop", "stuck")
    return sum(type(entry) is e.Entered and entry.element == element and entry.kind not in kinds
               for entry in player.journal)  # fmt: skip


@pytest.mark.req("O12")
@pytest.mark.parametrize("most", range(7, 14))
@pytest.mark.parametrize("is_sub", [False, True], ids=["task", "subprocess"])
@pytest.mark.parametrize("repeats", [AT_ONCE, IN_TURN, LOOP], ids=["at once", "in turn", "loop"])
def test_what_is_broken_off_goes_on_where_it_was_until_each_iteration_was_made_once(
    monkeypatch: pytest.MonkeyPatch, repeats: m.MultiInstance | m.StandardLoop, is_sub: bool, most: int
) -> None:
    player = played(monkeypatch, most, repeated(repeats, is_sub), service("z"))
    retries = 0
    while stuck(player):
        retry(player)
        retries += 1
        assert retries < 20 * ROUNDS
    assert retries
    end_job(player, "z")
    assert status(player) == "completed"
    assert ran(player) == ["z.verb"]
    assert passed(player, "t" if is_sub else "a") == ROUNDS


@pytest.mark.req("O12")
@pytest.mark.parametrize("most", range(7, 14))
@pytest.mark.parametrize("repeats", [AT_ONCE, IN_TURN, LOOP], ids=["at once", "in turn", "loop"])
def test_what_is_broken_off_beside_another_incident_goes_on_when_that_is_mended(
    monkeypatch: pytest.MonkeyPatch, repeats: m.MultiInstance | m.StandardLoop, most: int
) -> None:
    monkeypatch.setattr("perdure.bpmn.machine.token_game_loop.MAX_MOVES", most)
    wait = m.TimerTrigger("duration", m.Value("orch_wait", "flag"))
    late = m.Event(id="late", position="boundary", attached_to="a", triggers=(wait,))
    player = begun(scope((repeated(repeats, is_sub=False), service("z")), more=(late,)))
    (node,) = stuck(player)
    assert node.incident is not None and node.incident.code == INVALID
    player.ask(c.RetryIncident(node=node.number, flags={"orch_wait": "PT1H"}, worker=1))
    while stuck(player):
        retry(player)
    end_job(player, "z")
    assert status(player) == "completed"
    assert passed(player, "a") == ROUNDS


@pytest.mark.req("O12")
@pytest.mark.parametrize("is_sub", [False, True], ids=["task", "subprocess"])
def test_a_loop_that_never_ends_is_an_incident_that_a_flag_ends(monkeypatch: pytest.MonkeyPatch, is_sub: bool) -> None:
    player = played(monkeypatch, 100, service("f"), repeated(FOR_EVER, is_sub), service("z"))
    end_job(player, "f", c.JobDone(b"1" * 32, {"orch_x": True}))
    for _ in range(3):
        assert len(stuck(player)) == 1
        retry(player)
    retry(player, orch_x=False)
    end_job(player, "z")
    assert status(player) == "completed"


def test_iterations_are_done_when_their_incident_is_resolved_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    player = played(monkeypatch, 10, repeated(IN_TURN, False), service("z"))
    (node,) = stuck(player)
    player.ask(c.ResolveIncident(node=node.number, reason="enough", worker=1))
    end_job(player, "z")
    assert status(player) == "completed"
