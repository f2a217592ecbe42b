"""The carried model: a deployed process as our engine sends it to Camunda.

| ours | there |
|---|---|
| a user task with four eyes, joint groups, a ladder, or open to agents | a job of type `perdure.task`: our journal holds the task, and whoever answers it is checked here |
| any other user task | a user task of Camunda where its records are exported to us, else a job of that type as well |
| the only start, with a message, signal or timer | a plain start: what triggers it arrives here, and Camunda is asked to begin |
| everything else | as `perdure export --target camunda` writes it |
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from perdure.bpmn import model as m
from perdure.bpmn.camunda import zeebe_xml
from perdure.bpmn.lint.findings import Finding
from perdure.bpmn.lint.lint import lint
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.task_properties import RUNGS, rules_of
from perdure.engines.camunda.address import CamundaAddress
from perdure.errors import Problem

TASK_JOB = "perdure.task"
"""The type of the jobs that stand for user tasks which our journal holds alone."""
PORTABILITY = "PRT"


def carried_xml(deployed: Deployed, address: CamundaAddress) -> str:
    """The file that is deployed; the same bytes for the same process and address."""
    model = carried_model(deployed, has_tail=bool(address.tail))
    return zeebe_xml(model, {deployed.process.id: deployed.flags}, address.release)


def carried_model(deployed: Deployed, *, has_tail: bool) -> m.Model:
    """The process with its user tasks and its start as Camunda is to run them."""
    process = deployed.process
    body = _scope(process.body, has_tail)
    nodes = body.nodes
    if len(starts := _starts(body)) == 1 and starts[0].triggers:
        nodes = tuple(replace(each, triggers=()) if each is starts[0] else each for each in nodes)
    carried = replace(process, body=replace(body, nodes=nodes))
    return m.Model(definitions=m.Definitions(
        id=f"{process.id}-definitions", processes=(carried,), messages=deployed.messages, signals=deployed.signals,
        errors=deployed.errors, escalations=deployed.escalations,
    ))  # fmt: skip


def _starts(scope: m.Scope) -> list[m.Event]:
    return [node for node in scope.nodes if isinstance(node, m.Event) and node.position == "start"]


def _scope(scope: m.Scope, has_tail: bool) -> m.Scope:
    return replace(scope, nodes=tuple(_node(each, has_tail) for each in scope.nodes))


def _node(node: m.Node, has_tail: bool) -> m.Node:
    if isinstance(node, m.SubProcess):
        return replace(node, body=_scope(node.body, has_tail))
    if isinstance(node, m.Task) and node.kind == "user" and (not has_tail or is_held_here(node)):
        return _as_job(node)
    return node


def is_held_here(task: m.Task) -> bool:
    """Whether Camunda could not keep what protects a user task."""
    groups = task.groups
    is_joint = groups is not None and groups.kind == "literal" and "+" in groups.text
    rules = rules_of(task.properties)
    return rules.four_eyes or rules.agents or is_joint or any(name in task.properties for name in RUNGS)


def _as_job(task: m.Task) -> m.Task:
    kept = tuple(each for each in task.extensions if not each.name.startswith("zeebe:"))
    return replace(
        task, kind="service", type=TASK_JOB, is_native=False, assignee=None, groups=None, users=None, due=None,
        follow_up=None, priority=None, form="", extensions=kept,
    )  # fmt: skip


def portability(deployed: Deployed, address: CamundaAddress, file: str = "") -> list[Problem]:
    """Why Camunda of that release, or this engine, cannot carry a process."""
    model = carried_model(deployed, has_tail=bool(address.tail))
    found = [each for each in lint(model, target="camunda", release=address.release) if _counts(each)]
    return [
        *(Problem(each.code, file, 0, 0, each.element, each.fact, each.hint) for each in found),
        *_not_carried(model, address, file),
    ]


def _counts(finding: Finding) -> bool:
    return finding.code.startswith(PORTABILITY) and finding.severity == "error"


def _not_carried(model: m.Model, address: CamundaAddress, file: str) -> Iterator[Problem]:
    process = model.definitions.processes[0]
    hint = "Run the process on the embedded engine or on Temporal."
    triggered = [each for each in _starts(process.body) if each.triggers]
    for start in triggered:
        fact = "the Camunda engine begins a process at one start event"
        yield Problem("camunda.start", file, 0, 0, start.id, fact, "Leave it the only start of its process.")
    for node in m.nodes(process.body):
        if isinstance(node, m.CallActivity):
            fact = "the Camunda engine does not carry what a call activity begins"
            yield Problem("camunda.call", file, 0, 0, node.id, fact, hint)
        elif isinstance(node, m.Event) and node not in triggered:
            yield from _event(node, address, file, hint)


def _event(event: m.Event, address: CamundaAddress, file: str, hint: str) -> Iterator[Problem]:
    if any(isinstance(each, m.SignalTrigger) for each in event.triggers):
        fact = "the Camunda engine does not tell our journal of signals"
        yield Problem("camunda.signal", file, 0, 0, event.id, fact, hint)
    if any(isinstance(each, m.TimerTrigger) for each in event.triggers) and not address.tail:
        fact = "nothing tells us when its timer fires"
        wanted = "Let Camunda export its records to us: `tail=127.0.0.1:9200` in the engine's url."
        yield Problem("camunda.timer", file, 0, 0, event.id, fact, wanted)
