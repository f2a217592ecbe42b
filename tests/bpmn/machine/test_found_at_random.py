"""What random processes and a close look have found, each as small as it can be told."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from perdure.bpmn import model as m
from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.execution_plan import Plan
from perdure.bpmn.machine.state import Node
from perdure.durations import DAY
from tests.bpmn.machine.play import HASH, ID, ORIGIN, SECOND, Player

OTHER = b"o" * 32
MESSAGES = (m.Message(id="a", name="a"), m.Message(id="b", name="b"))
MINUTE = m.TimerTrigger("duration", m.Value("PT1M"))
TWICE = m.MultiInstance(m.Value("2"), is_sequential=False)


def plan_of_line(*nodes: m.Node, beside: tuple[m.Node, ...] = (), hash: bytes = HASH) -> Plan:
    """A start, the nodes one after the other, an end; `beside` stands on borders or is an event subprocess."""
    line = (m.Event(id="start", position="start"), *nodes, m.Event(id="end", position="end"))
    pairs = pairwise(line)
    flows = [m.Flow(id=f"{one.id}-{two.id}", source=one.id, target=two.id) for one, two in pairs]
    flows += [m.Flow(id=f"{each.id}-end", source=each.id, target="end") for each in beside if isinstance(each, m.Event)]
    body = m.Scope(nodes=(*line, *beside), flows=tuple(flows))
    return Plan(Deployed(process=m.Process(id="p", body=body), messages=MESSAGES, profile="open", is_loose=True), hash)


def played(*nodes: m.Node, beside: tuple[m.Node, ...] = ()) -> Player:
    player = Player(plan_of_line(*nodes, beside=beside), 1)
    player.start()
    return player


def standing(player: Player, element: str, kind: str = "") -> Node:
    assert player.state is not None
    return next(n for n in player.state.nodes.values() if n.element == element and (not kind or n.kind == kind))


def watch(player: Player, name: str) -> int:
    assert player.state is not None
    return next(w.number for w in player.state.watches.values() if name in (w.name, w.kind))


def count(player: Player, kind: type) -> int:
    return sum(type(entry) is kind for entry in player.journal)


def both(position: Any, **more: Any) -> m.Event:
    """An event that needs a message and a timer, or two messages."""
    return m.Event(id="both", position=position, is_parallel=True, **more)


def test_an_iteration_taken_away_by_hand_counts_as_ended() -> None:
    player = played(m.Task(id="u", kind="user", repeat=TWICE))
    for _ in range(2):
        player.ask(c.Modify(cancels=(standing(player, "u", "task").number,), reason="not needed"))
    assert player.state is not None and player.state.status == "completed"


def test_a_failed_call_that_is_one_of_several_iterations_is_retried_alone() -> None:
    player = played(m.CallActivity(id="call", process="child", repeat=TWICE))
    number = standing(player, "call", "call").number
    player.ask(c.EndCall(node=number, status="cancelled"))
    player.ask(c.RetryIncident(node=number))
    assert count(player, e.Thrown) == 3
    for _ in range(2):
        player.ask(c.EndCall(node=standing(player, "call", "call").number, status="completed"))
    assert player.state is not None and player.state.status == "completed"


def test_a_timer_that_waits_for_its_companions_fires_once_and_leaves_no_row() -> None:
    player = played(both("catch", triggers=(m.MessageTrigger("a"), MINUTE)))
    timer = c.FireTimer(number=watch(player, "timer"), kind="watch", due=61 * SECOND)
    assert (player.ask(timer), player.ask(timer)) == ("fired", "gone")
    assert player.state is not None and player.machine.rows(ID, player.state).timers == ()
    player.ask(c.Correlate(watch=watch(player, "a"), message_id="1"))
    assert player.state.status == "completed"


def test_what_the_first_of_several_triggers_brought_reaches_the_intake() -> None:
    player = played(both("catch", triggers=(m.MessageTrigger("a"), MINUTE), properties={"intake": "look"}))
    player.ask(c.Correlate(watch=watch(player, "a"), message_id="1", message=b"m" * 32))
    assert player.state is not None and b"m" * 32 in player.machine.payloads(player.state)[0]
    player.ask(c.FireTimer(number=watch(player, "timer"), kind="watch", due=61 * SECOND))
    job = standing(player, "both").job
    assert job is not None and (job.purpose, job.message) == ("intake", b"m" * 32)


def test_an_event_that_has_occurred_is_not_interrupted_by_its_other_trigger_while_its_intake_runs() -> None:
    triggers = (m.MessageTrigger("a"), MINUTE)
    player = played(m.Event(id="any", position="catch", triggers=triggers, properties={"intake": "look"}))
    timer = c.FireTimer(number=watch(player, "timer"), kind="watch", due=61 * SECOND)
    player.ask(c.Correlate(watch=watch(player, "a"), message_id="1", message=b"m" * 32, worker=1))
    assert player.ask(timer) == "gone"
    assert count(player, e.JobMade) == 1


def test_an_event_that_stays_needs_all_its_triggers_every_time() -> None:
    triggers = (m.MessageTrigger("a"), m.MessageTrigger("b"))
    event = both("boundary", attached_to="u", triggers=triggers, is_interrupting=False)
    player = played(m.Task(id="u", kind="user"), beside=(event,))
    for name in ("a", "b", "a"):
        player.ask(c.Correlate(watch=watch(player, name), message_id=f"m-{len(player.journal)}"))
    passed = [entry for entry in player.journal if isinstance(entry, e.Passed) and entry.element == "both"]
    assert len(passed) == 1


def test_an_incident_of_the_process_itself_can_be_resolved_by_hand() -> None:
    player = played(m.Task(id="u", kind="user"))
    player.ask(c.RaiseIncident(node=1, code="odd", text="Look."))
    player.ask(c.ResolveIncident(node=1, reason="seen"))
    assert player.state is not None and player.state.status == "completed"


def test_resolving_a_scope_by_hand_stops_what_was_called_inside_it() -> None:
    inner = m.Scope(nodes=(m.CallActivity(id="call", process="child"),))
    player = played(m.SubProcess(id="sub", body=inner))
    player.ask(c.RaiseIncident(node=standing(player, "sub").number, code="odd", text="Look."))
    player.ask(c.ResolveIncident(node=standing(player, "sub").number, reason="seen"))
    assert [entry.kind for entry in player.journal if isinstance(entry, e.Thrown)] == ["call", "cancel_call"]


def test_asking_twice_to_cancel_with_compensation_does_not_end_the_compensation() -> None:
    undo = m.Event(id="undone", position="boundary", attached_to="a", triggers=(m.CompensationTrigger(),))
    handler = m.Task(id="undo", kind="service", type="undo", is_for_compensation=True)
    work = m.Task(id="a", kind="service", type="work")
    body = plan_of_line(work, m.Task(id="u", kind="user")).deployed.process.body
    association = m.Association(id="x", source="undone", target="undo")
    body = m.Scope(nodes=(*body.nodes, undo, handler), flows=body.flows, associations=(association,))
    player = Player(Plan(Deployed(process=m.Process(id="p", body=body), profile="open", is_loose=True), HASH), 1)
    player.start()
    player.ask(c.RecordJob(node=standing(player, "a").number, attempt=1, job_worker=1, outcome=c.JobDone(b"1" * 32)))
    cancel = c.Cancel(reason="enough", compensates=True, worker=1)
    assert (player.ask(cancel), player.ask(cancel)) == ("compensating", "replayed")
    number = standing(player, "undo").number
    player.ask(c.RecordJob(node=number, attempt=1, job_worker=1, outcome=c.JobDone(b"2" * 32)))
    assert player.state is not None and player.state.status == "compensated"


def migrated(player: Player, *nodes: m.Node, beside: tuple[m.Node, ...] = ()) -> None:
    player.machine.plans = {**player.machine.plans, OTHER: plan_of_line(*nodes, beside=beside, hash=OTHER)}
    player.ask(c.Migrate(definition=OTHER, version=2, reason="new"))


def test_a_timer_that_has_fired_does_not_wait_again_after_a_migration() -> None:
    event = m.Event(id="late", position="boundary", attached_to="u", triggers=(MINUTE,), is_interrupting=False)
    player = played(m.Task(id="u", kind="user"), beside=(event,))
    player.ask(c.FireTimer(number=watch(player, "timer"), kind="watch", due=61 * SECOND))
    more = m.Event(id="new", position="boundary", attached_to="u", triggers=(MINUTE,), is_interrupting=False)
    migrated(player, m.Task(id="u", kind="user"), beside=(event, more))
    assert player.state is not None and [each.event for each in player.state.watches.values()] == ["new"]


def test_a_message_being_taken_in_is_not_waited_for_again_after_a_migration() -> None:
    event = m.Event(
        id="w", position="catch", triggers=(m.MessageTrigger("a"),), properties={"intake": "look"}
    )  # fmt: skip
    player = played(event)
    player.ask(c.Correlate(watch=watch(player, "a"), message_id="1", message=b"m" * 32))
    migrated(player, event)
    assert player.state is not None and player.state.watches == {}


def test_a_suspended_instance_hears_nothing_twice_when_it_goes_on() -> None:
    player = played(m.Event(id="w", position="catch", triggers=(MINUTE,)))
    number = watch(player, "timer")
    player.ask(c.Suspend())
    assert player.ask(c.FireTimer(number=number, kind="watch", due=61 * SECOND)) == "gone"
    player.ask(c.Resume(timers="keep"))
    assert player.ask(c.FireTimer(number=number, kind="watch", due=61 * SECOND)) == "fired"
    decision = player.machine.decide(ID, player.state, c.Resume(), ORIGIN, player.now, 0.5)
    assert getattr(decision, "code", "") == "wrong_state"


def test_around_iterations_that_wait_nothing_waits_for_their_message_itself() -> None:
    late = m.TimerTrigger("duration", m.Value("orch_wait", "flag"))
    border = m.Event(id="late", position="boundary", attached_to="r", triggers=(late,))
    player = played(m.Task(id="r", kind="receive", message="a", repeat=TWICE), beside=(border,))
    player.ask(c.RetryIncident(node=standing(player, "r", "many").number, flags={"orch_wait": "PT1H"}, worker=1))
    assert player.state is not None
    waits = [each.node for each in player.state.watches.values() if each.kind == "message"]
    assert [player.state.nodes[number].kind for number in waits] == ["wait", "wait"]
    for number in [each.number for each in player.state.watches.values() if each.kind == "message"]:
        player.ask(c.Correlate(watch=number, message_id=str(number)))
    assert player.state is not None and player.state.status == "completed"


def test_a_monthly_timer_that_was_put_off_comes_a_month_after_that() -> None:
    monthly = (m.TimerTrigger("cycle", m.Value("R4/P1M")),)
    border = m.Event(id="nudge", position="boundary", attached_to="u", is_interrupting=False, triggers=monthly)
    player = played(m.Task(id="u", kind="user"), beside=(border,))
    player.ask(c.Suspend())
    player.now += 20 * DAY
    player.ask(c.Resume(timers="shift", worker=1))
    assert player.state is not None
    (nudge,) = player.state.watches.values()
    player.now = nudge.due
    player.ask(c.FireTimer(number=nudge.number, kind="watch", due=nudge.due, worker=1))
    assert player.state.watches[nudge.number].due - nudge.due == 28 * DAY, "from the 21st of February"
