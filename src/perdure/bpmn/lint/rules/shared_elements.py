"""A message, signal, error or escalation has no name, is never used, or is defined twice.

They are how processes speak to each other, by name. Two of one name are one by accident. What an operation or a
correlation property names is used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, is_named
from perdure.bpmn.model import (
    ErrorTrigger,
    EscalationTrigger,
    Event,
    MessageTrigger,
    SignalTrigger,
    Task,
    Trigger,
    nodes,
)

CODE = "BPM125"
NAME = "shared-elements"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    definitions = index.definitions
    used = _used(index)
    for kind, shared in (
        ("message", definitions.messages), ("signal", definitions.signals),
        ("error", definitions.errors), ("escalation", definitions.escalations),
    ):  # fmt: skip
        names = Counter(each.name for each in shared if is_named(each.name))
        for each in shared:
            if not is_named(each.name) and kind in ("error", "escalation"):
                yield Note(each.id, f"the {kind} has no name", "Name it.")
            if each.id not in used:
                yield Note(each.id, f"the {kind} is never used", "Remove it.")
            if names[each.name] > 1:
                yield Note(each.id, f"{names[each.name]} {kind}s have the name '{each.name}'", "Keep one of them.")


def _used(index: Index) -> set[str]:
    used = set(index.model.referred)
    for process in index.definitions.processes:
        for node in nodes(process.body):
            if isinstance(node, Task):
                used.add(node.message)
            elif isinstance(node, Event):
                used.update(filter(None, map(_reference, node.triggers)))
    collaboration = index.definitions.collaboration
    if collaboration is not None:
        used.update(flow.message for flow in collaboration.message_flows)
    return used


def _reference(trigger: Trigger) -> str:
    match trigger:
        case MessageTrigger(id) | SignalTrigger(id) | ErrorTrigger(id) | EscalationTrigger(id):
            return id
        case _:
            return ""
