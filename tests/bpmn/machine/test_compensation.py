"""Compensation that meets another one, or fails: what was begun is finished once, and nothing is left undone."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from perdure.bpmn import model as m
from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.execution_plan import Plan
from perdure.bpmn.machine.result_paths import place_of
from perdure.bpmn.machine.state import Failure, Node
from perdure.errors import Rejection
from perdure.human_tasks import Person
from tests.bpmn.machine.play import HASH, ID, ORIGIN, Player
from tests.bpmn.machine.test_found_at_random import MINUTE, OTHER, TWICE, count, standing, watch

THROW = m.Event(id="throw", position="throw", triggers=(m.CompensationTrigger(),))
BROKEN = Failure("permanent_contract", "broken", "it broke")
REFUSED = Failure("permanent_business", "NO", "they said no")
Undoes = dict[str, m.Node]


def service(id: str, **more: Any) -> m.Task:
    return m.Task(id=id, kind="service", type=f"{id}.verb", **more)


def scope(
    *lines: tuple[m.Node, ...], undoes: dict[str, m.Node] | None = None, more: tuple[m.Node, ...] = ()
) -> m.Scope:
    """Lines of nodes that run side by side; `undoes` names the handler of each activity that can be undone."""
    fork = m.Gateway(id=f"fork-{lines[0][0].id}", kind="parallel")
    start = m.Event(id=f"start-{lines[0][0].id}", position="start")
    nodes, pairs = [start, fork], [(start.id, fork.id)]
    for line in lines:
        nodes += line
        pairs += [(fork.id, line[0].id), *((one.id, two.id) for one, two in pairwise(line))]
    links = []
    for host, handler in (undoes or {}).items():
        trigger = (m.CompensationTrigger(),)
        nodes += [m.Event(id=f"on-{host}", position="boundary", attached_to=host, triggers=trigger), handler]
        links.append(m.Association(id=f"as-{host}", source=f"on-{host}", target=handler.id))
    flows = tuple(m.Flow(id=f"{one}-{two}", source=one, target=two) for one, two in pairs)
    return m.Scope(nodes=(*nodes, *more), flows=flows, associations=tuple(links))


def handler(id: str) -> m.Task:
    return service(id, is_for_compensation=True)


def plan(body: m.Scope, hash: bytes = HASH, **more: Any) -> Plan:
    return Plan(Deployed(process=m.Process(id="p", body=body), profile="open", is_loose=True, **more), hash)


def begun(body: m.Scope, **more: Any) -> Player:
    player = Player(plan(body, **more), 1)
    player.start()
    return player


def end_job(player: Player, element: str, outcome: c.JobDone | c.JobFault | None = None) -> str:
    node = standing(player, element, "job")
    assert node.job is not None
    done = outcome or c.JobDone(b"1" * 32)
    return player.ask(
        c.RecordJob(node=node.number, attempt=node.job.attempt, job_worker=1, outcome=done, worker=1)
    )  # fmt: skip


def ran(player: Player) -> list[str]:
    return [entry.verb for entry in player.journal if isinstance(entry, e.JobCompleted)]


def status(player: Player) -> str:
    assert player.state is not None
    return player.state.status


def two_done_and_being_undone() -> Player:
    """`b` is being undone by a throw event, `a` is next, and a person is at work beside it."""
    undoes: Undoes = {"a": handler("undo-a"), "b": handler("undo-b")}
    player = begun(scope((service("a"), service("b"), THROW), (m.Task(id="u", kind="user"),), undoes=undoes))
    end_job(player, "a")
    end_job(player, "b")
    return player


@pytest.mark.req("O8")
def test_what_is_being_undone_when_all_is_to_be_undone_is_finished_once() -> None:
    player = two_done_and_being_undone()
    running = standing(player, "undo-b", "job")
    assert player.ask(c.Cancel(reason="enough", compensates=True, worker=1)) == "compensating"
    player.reopen()
    assert standing(player, "undo-b", "job").job == running.job, "the worker that has it keeps it"
    assert end_job(player, "undo-b") == "applied"
    end_job(player, "undo-a")
    assert ran(player) == ["a.verb", "b.verb", "undo-b.verb", "undo-a.verb"]
    assert status(player) == "compensated"
    assert count(player, e.JobStarted) == 4


@pytest.mark.req("O8")
def test_the_handler_that_goes_on_keeps_its_timers_and_what_is_inside_it() -> None:
    inner = scope((service("call-off"), m.Task(id="confirm", kind="user")))
    sub = m.SubProcess(id="undo-a", body=inner, is_for_compensation=True)
    late = m.Event(id="late", position="boundary", attached_to="undo-a", triggers=(MINUTE,), is_interrupting=False)
    body = scope((service("a"), THROW), (m.Task(id="u", kind="user"),), undoes={"a": sub}, more=(late,))
    player = begun(body)
    end_job(player, "a")
    end_job(player, "call-off")
    player.ask(c.Cancel(compensates=True, worker=1))
    player.reopen()
    assert watch(player, "timer")
    assert [node.element for node in _nodes(player) if node.kind == "task"] == ["confirm"]
    player.ask(c.CompleteTask(node=standing(player, "confirm").number, who=Person("ana"), worker=1))
    assert ran(player) == ["a.verb", "call-off.verb"]
    assert status(player) == "compensated"


@pytest.mark.req("O8")
def test_an_uncaught_error_beside_a_compensation_takes_over_what_it_is_undoing() -> None:
    undoes: Undoes = {"a": handler("undo-a")}
    player = begun(scope((service("a"), THROW), (service("other"),), undoes=undoes))
    end_job(player, "a")
    end_job(player, "other", c.JobFault(REFUSED))
    assert status(player) == "compensating"
    end_job(player, "undo-a")
    assert ran(player) == ["a.verb", "undo-a.verb"]
    assert status(player) == "compensated"
    assert player.state is not None and player.state.failure == REFUSED


@pytest.mark.req("O8")
def test_what_could_not_be_undone_is_not_forgotten_when_all_is_undone() -> None:
    player = two_done_and_being_undone()
    end_job(player, "undo-b", c.JobFault(BROKEN))
    player.ask(c.Cancel(compensates=True, worker=1))
    end_job(player, "undo-a")
    assert status(player) == "compensation_failed"


def test_a_cancelled_transaction_finishes_what_it_was_undoing() -> None:
    cancel = m.Event(id="cancel", position="end", triggers=(m.CancelTrigger(),))
    undoes: Undoes = {"a": handler("undo-a"), "b": handler("undo-b")}
    inner = scope((service("a"), service("b"), THROW), (m.Task(id="u", kind="user"), cancel), undoes=undoes)
    out = m.Event(id="out", position="boundary", attached_to="deal", triggers=(m.CancelTrigger(),))
    player = begun(scope((m.SubProcess(id="deal", kind="transaction", body=inner),), more=(out,)))
    end_job(player, "a")
    end_job(player, "b")
    player.ask(c.CompleteTask(node=standing(player, "u").number, who=Person("ana"), worker=1))
    assert end_job(player, "undo-b") == "applied"
    end_job(player, "undo-a")
    assert ran(player) == ["a.verb", "b.verb", "undo-b.verb", "undo-a.verb"]
    assert status(player) == "completed"


@pytest.mark.req("O8")
def test_iterations_being_undone_are_finished_once_when_all_is_undone() -> None:
    cancel = m.Event(id="cancel", position="end", triggers=(m.CancelTrigger(),))
    inner = scope((service("a"), m.Task(id="u", kind="user"), cancel), undoes={"a": handler("undo-a")})
    deal = m.SubProcess(id="deal", kind="transaction", body=inner, repeat=TWICE)
    player = begun(scope((deal,)))
    for number in [node.number for node in _nodes(player) if node.element == "a"]:
        player.ask(c.RecordJob(node=number, attempt=1, job_worker=1, outcome=c.JobDone(b"1" * 32), worker=1))
    player.ask(c.CompleteTask(node=standing(player, "u").number, who=Person("ana"), worker=1))
    player.ask(c.Cancel(compensates=True, worker=1))
    player.reopen()
    assert end_job(player, "undo-a") == "applied"
    end_job(player, "undo-a")
    assert ran(player) == ["a.verb", "a.verb", "undo-a.verb", "undo-a.verb"]
    assert status(player) == "compensated"


def test_what_was_undoing_in_an_iteration_keeps_its_place_when_all_are_undone() -> None:
    cancel = m.Event(id="cancel", position="end", triggers=(m.CancelTrigger(),))
    undoes: Undoes = {"a": handler("undo-a"), "b": handler("undo-b")}
    inner = scope((service("a"), service("b"), THROW), (m.Task(id="u", kind="user"), cancel), undoes=undoes)
    player = begun(scope((m.SubProcess(id="deal", kind="transaction", body=inner, repeat=TWICE),)))
    for element in ("a", "b"):
        number = [node.number for node in _nodes(player) if node.element == element][-1]
        player.ask(c.RecordJob(node=number, attempt=1, job_worker=1, outcome=c.JobDone(b"1" * 32), worker=1))
    assert _place(player, "undo-b") == ("deal", "2")
    task = next(node for node in _nodes(player) if node.element == "u")
    player.ask(c.CompleteTask(node=task.number, who=Person("ana"), worker=1))
    player.reopen()
    assert _place(player, "undo-b") == ("deal", "2")
    player.ask(c.Cancel(compensates=True, worker=1))
    player.reopen()
    assert _place(player, "undo-b") == ("deal", "2")
    end_job(player, "undo-b")
    assert _place(player, "undo-a") == ("deal", "2")
    end_job(player, "undo-a")
    assert status(player) == "compensated"


def cancelled_deal(*triggers: m.TimerTrigger) -> m.Scope:
    """A transaction that is cancelled as soon as `a` is done, with a boundary event for each trigger."""
    cancel = m.Event(id="cancel", position="end", triggers=(m.CancelTrigger(),))
    deal = m.SubProcess(
        id="deal", kind="transaction", body=scope((service("a"), cancel), undoes={"a": handler("undo-a")})
    )
    late = (m.Event(id="late", position="boundary", attached_to="deal", triggers=(each,)) for each in triggers)
    out = m.Event(id="out", position="boundary", attached_to="deal", triggers=(m.CancelTrigger(),))
    return scope((deal,), more=(out, *late))


@pytest.mark.req("O8")
def test_retrying_arms_nothing_on_a_transaction_that_is_being_undone() -> None:
    player = begun(cancelled_deal(m.TimerTrigger("duration", m.Value("orch_wait", "flag"))))
    end_job(player, "a")
    deal = next(node for node in _nodes(player) if node.incident is not None)
    assert player.ask(c.RetryIncident(node=deal.number, flags={"orch_wait": "PT1M"}, worker=1)) == "retried"
    assert player.state is not None and not player.state.watches
    end_job(player, "undo-a")
    assert status(player) == "completed"


@pytest.mark.req("O8")
def test_migrating_arms_nothing_on_a_transaction_that_is_being_undone() -> None:
    player = begun(cancelled_deal())
    end_job(player, "a")
    player.machine.plans[OTHER] = plan(cancelled_deal(MINUTE), OTHER)
    assert player.ask(c.Migrate(definition=OTHER, version=2, worker=1)) == "migrated"
    assert player.state is not None and not player.state.watches
    end_job(player, "undo-a")
    assert status(player) == "completed"


@pytest.mark.req("O8")
def test_a_handler_with_boundary_events_that_fails_does_not_begin_a_second_compensation() -> None:
    late = m.Event(id="late", position="boundary", attached_to="undo-b", triggers=(MINUTE,))
    undoes: Undoes = {"a": handler("undo-a"), "b": handler("undo-b")}
    player = begun(scope((service("a"), service("b"), THROW), undoes=undoes, more=(late,)))
    end_job(player, "a")
    end_job(player, "b")
    end_job(player, "undo-b", c.JobFault(REFUSED))
    assert count(player, e.CompensationStarted) == 0
    end_job(player, "undo-a")
    assert ran(player) == ["a.verb", "b.verb", "undo-a.verb"]
    assert status(player) == "active"
    incidents = [entry.text for entry in player.journal if isinstance(entry, e.IncidentRaised)]
    assert len(incidents) == 1 and "undo-b" in incidents[0]


@pytest.mark.req("O8")
def test_the_boundary_event_of_a_handler_catches_its_error() -> None:
    caught = m.Event(id="caught", position="boundary", attached_to="undo-a", triggers=(m.ErrorTrigger(),))
    player = begun(scope((service("a"), THROW), undoes={"a": handler("undo-a")}, more=(caught,)))
    end_job(player, "a")
    end_job(player, "undo-a", c.JobFault(REFUSED))
    assert (status(player), count(player, e.IncidentRaised)) == ("completed", 0)


@pytest.mark.req("O8")
def test_an_error_end_event_inside_a_handler_fails_the_handler_and_not_the_instance() -> None:
    error = m.Event(id="bad", position="end", triggers=(m.ErrorTrigger("NO"),))
    sub = m.SubProcess(id="undo-b", body=scope((service("try"), error)), is_for_compensation=True)
    undoes: Undoes = {"a": handler("undo-a"), "b": sub}
    player = begun(scope((service("a"), service("b"), THROW), undoes=undoes), errors=(m.Error(id="NO", code="NO"),))
    for element in ("a", "b", "try", "undo-a"):
        end_job(player, element)
    assert (status(player), count(player, e.IncidentRaised)) == ("active", 1)


def test_no_migration_renames_what_is_being_undone() -> None:
    player = two_done_and_being_undone()
    undoes: Undoes = {"a2": handler("undo-a2"), "b": handler("undo-b")}
    body = scope((service("a2"), service("b"), THROW), (m.Task(id="u", kind="user"),), undoes=undoes)
    player.machine.plans = {**player.machine.plans, OTHER: plan(body, OTHER)}
    renames = c.Migrate(definition=OTHER, version=2, mapping={"a": "a2", "undo-a": "undo-a2"}, reason="new")
    refused = player.machine.decide(ID, player.state, renames, ORIGIN, player.now, 0.5)
    assert isinstance(refused, Rejection) and "'undo-a' is being undone" in refused.fact


def _nodes(player: Player) -> list[Node]:
    assert player.state is not None
    return list(player.state.nodes.values())


def _place(player: Player, element: str) -> tuple[str, ...]:
    assert player.state is not None
    return place_of(player.state, standing(player, element, "job"))
