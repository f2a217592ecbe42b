"""A hosted instance: dispatches count once, decisions wait for our journal, a new run goes on with both."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from perdure.bpmn.machine.commands import Cancel, Command, CompleteTask, LeaseJob, StartInstance, Suspend
from perdure.bpmn.machine.deployed_process import Binding, Deployed
from perdure.engines.temporal.hosted_instance import HostedInstance
from perdure.engines.temporal.wire import Begun, Dispatch, encode, read_begun, read_dispatch
from perdure.human_tasks import Person
from perdure.journal import Origin
from perdure.payload import canonical, digest
from tests.engines.embedded.process_models import line, pause, service, user

SECOND = 1_000_000
ORIGIN = Origin("default", "ann")
MODEL = line("p", service("a", "t.one"), pause("sleep", "PT10S"), user("review"))
DEPLOYED = Deployed(process=MODEL.definitions.processes[0], profile="open", bindings={"t.one": Binding(verb="t.one")})
CONTENT = canonical(DEPLOYED.content)
HASH, HEAD = digest(CONTENT), digest(b"{}")
START = StartInstance(definition=HASH, process="p", process_version=1, head=HEAD, worker=7)


def hosted() -> HostedInstance:
    return HostedInstance(Begun(instance=bytes(16), tenant="default", semantics=1))


def dispatch(name: str, expected: int, command: Command, **more: Any) -> Dispatch:
    made = Dispatch(id=name, expected=expected, origin=ORIGIN, command=command, **more)
    assert read_dispatch(encode(made)) == made
    return made


def begun() -> HostedInstance:
    instance = hosted()
    assert instance.decide(dispatch("start", 0, START, definition=CONTENT), SECOND, 0.5).outcome == "decided"
    return instance


@pytest.mark.req("V13")
def test_a_dispatch_that_comes_twice_is_decided_once() -> None:
    instance = begun()
    again = instance.decide(dispatch("start", 0, START, definition=CONTENT), 2 * SECOND, 0.5)
    assert (again.outcome, again.sequence, instance.version, len(again.made)) == ("decided", 1, 1, 1)


def test_a_job_becomes_ready_whoever_asked() -> None:
    """The worker named by a command does not get the job in the same decision: a job is an activity."""
    instance = begun()
    assert [row.worker for row in instance.rows.jobs] == [0]
    leased = instance.decide(dispatch("l", 1, LeaseJob(node=instance.ready_jobs()[0].step, worker=3)), SECOND, 0.5)
    assert (leased.answer, [row.worker for row in instance.rows.jobs]) == ("leased", [3])


def test_a_dispatch_for_another_version_is_told_what_was_decided_meanwhile() -> None:
    instance = begun()
    instance.decide(dispatch("s", 1, Suspend()), SECOND, 0.5)
    late = instance.refusal(dispatch("c", 1, Cancel()), SECOND)
    assert late is not None
    assert (late.outcome, [each.sequence for each in late.made], instance.version) == ("moved", [2], 2)


def test_a_refused_dispatch_changes_nothing() -> None:
    instance = begun()
    command = CompleteTask(node=99, who=Person("ann"))
    refused = instance.refusal(dispatch("t", 1, command), SECOND)
    assert refused is not None and refused.rejection is not None
    assert (refused.outcome, refused.rejection.code, instance.version) == ("refused", "wrong_state", 1)


def test_a_definition_that_was_altered_is_refused() -> None:
    altered = hosted().decide(dispatch("start", 0, START, definition=CONTENT + b" "), SECOND, 0.5)
    assert altered.rejection is not None
    assert "does not have the hash" in altered.rejection.fact


def test_decisions_stay_until_our_journal_has_them() -> None:
    instance = begun()
    instance.decide(dispatch("s", 1, Suspend()), SECOND, 0.5)
    assert [each.sequence for each in instance.outbox] == [2], "a dispatch says how far our journal has come"
    instance.acknowledge(2)
    assert instance.outbox == []


@pytest.mark.req("V13")
def test_a_new_run_goes_on_with_state_outbox_and_memory() -> None:
    instance = begun()
    instance.decide(dispatch("s", 1, Suspend()), SECOND, 0.5)
    carried = read_begun(encode(instance.carried()))
    next_run = HostedInstance(carried)
    assert (next_run.version, next_run.state, next_run.outbox) == (2, instance.state, instance.outbox)
    assert next_run.decide(dispatch("s", 1, Suspend()), SECOND, 0.5).sequence == 2
    assert (carried.runs, list(carried.definitions)) == (2, [HASH])


def test_an_instance_of_other_semantics_is_not_decided_here() -> None:
    with pytest.raises(RuntimeError, match="semantics 2"):
        HostedInstance(replace(hosted().carried(), semantics=2))
