"""The model that is sent to Camunda, and what is refused before anything is sent."""

from __future__ import annotations

import pytest

from perdure.bpmn import model as m
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.engines.camunda.address import read_address
from perdure.engines.camunda.carried_model import TASK_JOB, carried_model, carried_xml, portability
from tests.engines.embedded.process_models import END, START, flow, line, message, model, pause, service, user, wait

TAILED = read_address("camunda://localhost:8080?tail=127.0.0.1:9200")
BARE = read_address("camunda://localhost:8080")


def deployed(made: m.Model) -> Deployed:
    found = made.definitions
    return Deployed(
        process=found.processes[0], messages=found.messages, signals=found.signals, errors=found.errors,
        escalations=found.escalations,
    )  # fmt: skip


def task_of(made: m.Model, id: str) -> m.Task:
    found = {node.id: node for node in m.nodes(made.definitions.processes[0].body)}[id]
    assert isinstance(found, m.Task)
    return found


def test_a_plain_user_task_is_camundas_where_its_records_are_exported_to_us() -> None:
    process = deployed(line("p", user("review")))
    assert task_of(carried_model(process, has_tail=True), "review").kind == "user"
    assert "zeebe:userTask" in carried_xml(process, TAILED)


def test_a_user_task_is_held_here_where_nothing_tells_of_it() -> None:
    made = task_of(carried_model(deployed(line("p", user("review"))), has_tail=False), "review")
    assert (made.kind, made.type) == ("service", TASK_JOB)


@pytest.mark.parametrize("properties", [{"perdure:fourEyes": "true"}, {"perdure:remind": "P1D"}])
def test_a_user_task_that_camunda_could_not_protect_is_held_here(properties: dict[str, str]) -> None:
    review = m.Task(id="review", kind="user", is_native=True, properties=properties)
    process = deployed(line("p", review))
    made = task_of(carried_model(process, has_tail=True), "review")
    assert (made.kind, made.type, made.properties) == ("service", TASK_JOB, properties)
    assert portability(process, TAILED) == []


def test_the_only_start_waits_for_nothing_in_camunda() -> None:
    start = m.Event(id="asked", position="start", triggers=(m.MessageTrigger("paid"),))
    made = model("p", (start, END), (flow("asked", "end"),), messages=(message("paid", key="k"),))
    sent = carried_model(deployed(made), has_tail=False).definitions.processes[0].body.nodes[0]
    assert isinstance(sent, m.Event)
    assert sent.triggers == ()
    assert portability(deployed(made), BARE) == []


def test_what_the_release_cannot_carry_is_refused_by_name() -> None:
    loop = m.Task(id="again", kind="service", type="t.one", repeat=m.StandardLoop(maximum=3))
    assert [each.code for each in portability(deployed(line("p", loop)), TAILED)] == ["PRT104"]


def test_a_timer_is_refused_where_nothing_would_tell_that_it_fired() -> None:
    process = deployed(line("p", service("a", "t.one"), pause("sleep", "PT1S")))
    (refused,) = portability(process, BARE)
    assert (refused.code, refused.field) == ("camunda.timer", "sleep")
    assert portability(process, TAILED) == []


def test_calls_signals_and_several_starts_are_refused() -> None:
    call = m.CallActivity(id="call", process="other")
    heard = m.Event(id="heard", position="catch", triggers=(m.SignalTrigger("s"),))
    codes = [each.code for each in portability(deployed(line("p", call, heard)), TAILED)]
    assert codes == ["camunda.call", "camunda.signal"]
    second = m.Event(id="second", position="start", triggers=(m.MessageTrigger("paid"),))
    several = model(
        "p", (START, second, END), (flow("start", "end"), flow("second", "end")), messages=(message("paid", key="k"),)
    )
    assert "camunda.start" in [each.code for each in portability(deployed(several), TAILED)]


def test_the_same_process_is_sent_with_the_same_bytes() -> None:
    process = deployed(line("p", wait("await", "paid"), messages=(message("paid", key="order-1"),)))
    assert carried_xml(process, TAILED) == carried_xml(process, TAILED)
    assert "order-1" in carried_xml(process, TAILED)
