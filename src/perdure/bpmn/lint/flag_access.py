"""Where a model reads flags and other expressions, and which nodes may write a flag."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from perdure.bpmn.conditions.tree import Condition, flags_of
from perdure.bpmn.lint.model_index import Index, is_named
from perdure.bpmn.model import (
    ACTIVATION_COUNT,
    COMPLETED_COUNT,
    ConditionalTrigger,
    Event,
    Gateway,
    MessageTrigger,
    MultiInstance,
    Node,
    StandardLoop,
    SubProcess,
    Task,
    TimerTrigger,
    Value,
)

Moment = Literal["entry", "exit", "any"]
Role = Literal[
    "correlation", "timer", "cardinality", "assignee", "groups", "users", "due", "follow_up", "priority", "mapping"
]


class Test(msgspec.Struct, frozen=True):
    """A condition, the element it belongs to, the node where it is evaluated and when."""

    element: str
    node: str
    condition: Condition
    moment: Moment
    given: tuple[str, ...] = ()


class Use(msgspec.Struct, frozen=True):
    """A value outside conditions, the element it belongs to, and the node whose entry evaluates it."""

    element: str
    node: str
    role: Role
    value: Value
    moment: Moment = "entry"
    timer: str = ""


class Read(msgspec.Struct, frozen=True):
    element: str
    node: str
    flag: str
    moment: Moment


def conditions(index: Index) -> Iterator[Test]:
    """Every condition of the model."""
    for flow in index.flows.values():
        if flow.condition is not None:
            yield Test(flow.id, flow.source, flow.condition, "exit")
    for node in index.nodes.values():
        yield from _conditions_of(node)


def _conditions_of(node: Node) -> Iterator[Test]:
    if isinstance(node, Gateway):
        if node.activation is not None:
            yield Test(node.id, node.id, node.activation, "exit", (ACTIVATION_COUNT,))
    elif isinstance(node, Event):
        for trigger in node.triggers:
            if isinstance(trigger, ConditionalTrigger):
                yield Test(node.id, node.id, trigger.condition, "any")
    else:
        yield from _repetition(node)


def _repetition(node: Task | SubProcess | Node) -> Iterator[Test]:
    repeat = getattr(node, "repeat", None)
    if isinstance(repeat, StandardLoop) and repeat.condition is not None:
        yield Test(node.id, node.id, repeat.condition, "exit")
    if isinstance(repeat, MultiInstance) and repeat.completion is not None:
        yield Test(node.id, node.id, repeat.completion, "exit", (COMPLETED_COUNT,))
    if isinstance(node, SubProcess) and node.completion is not None:
        yield Test(node.id, node.id, node.completion, "exit", (COMPLETED_COUNT,))


def uses(index: Index) -> Iterator[Use]:
    """Every value outside conditions that may be an expression."""
    for node in index.nodes.values():
        yield from _uses_of(index, node)


def _uses_of(index: Index, node: Node) -> Iterator[Use]:
    opened = opened_by(index, node)
    if isinstance(node, Event):
        for trigger in node.triggers:
            if isinstance(trigger, TimerTrigger):
                yield Use(node.id, opened, "timer", trigger.value, timer=trigger.kind)
            elif isinstance(trigger, MessageTrigger) and node.position in ("catch", "boundary", "start"):
                yield from _correlation(index, node, opened, trigger.message)
    elif isinstance(node, Task):
        yield from _task_uses(index, node)
    repeat = getattr(node, "repeat", None)
    if isinstance(repeat, MultiInstance):
        yield Use(node.id, node.id, "cardinality", repeat.cardinality)
    for mapping in getattr(node, "mappings", ()):
        yield Use(node.id, node.id, "mapping", mapping.source, "entry" if mapping.direction == "input" else "exit")


def _task_uses(index: Index, task: Task) -> Iterator[Use]:
    if task.kind == "receive":
        yield from _correlation(index, task, task.id, task.message)
    named: tuple[tuple[Role, Value | None], ...] = (
        ("assignee", task.assignee), ("groups", task.groups), ("users", task.users), ("due", task.due),
        ("follow_up", task.follow_up), ("priority", task.priority),
    )  # fmt: skip
    yield from (Use(task.id, task.id, role, value) for role, value in named if value is not None)


def _correlation(index: Index, node: Node, opened: str, message: str) -> Iterator[Use]:
    if is_process_start(index, node) or message not in index.messages:
        return
    key = index.messages[message].correlation
    if key is not None:
        yield Use(node.id, opened, "correlation", key)


def waits_without_key(index: Index) -> Iterator[tuple[Node, str]]:
    """What waits in mid-flow for a message that has no correlation key, with the message."""
    waits: list[tuple[Node, str]] = [
        *((event, trigger.message) for event, trigger in index.triggers(MessageTrigger, "catch", "boundary", "start")),
        *((task, task.message) for task in index.tasks("receive")),
    ]
    for node, message in waits:
        if not is_process_start(index, node) and message in index.messages:
            key = index.messages[message].correlation
            if key is None or not is_named(key.text):
                yield node, message


def is_process_start(index: Index, node: Node) -> bool:
    """Whether the node makes new instances, and so waits for nothing."""
    is_start = isinstance(node, Event) and node.position == "start"
    if is_start and index.room_of[node.id].parent is None:
        return True
    sources = (index.nodes.get(flow.source) for flow in index.incoming(node.id))
    return index.is_instantiating(node) or any(each is not None and index.is_instantiating(each) for each in sources)


def opened_by(index: Index, node: Node) -> str:
    """The node whose entry opens the wait: the host of a boundary event, the scope around an event subprocess."""
    if isinstance(node, Event) and node.position == "boundary":
        return node.attached_to
    room = index.room_of[node.id]
    if isinstance(node, Event) and node.position == "start" and room.kind() == "event" and room.parent is not None:
        return room.parent.id
    return node.id


def reads(index: Index) -> Iterator[Read]:
    """Every reading of a flag, given ones left out."""
    for test in conditions(index):
        for flag in sorted(flags_of(test.condition) - set(test.given)):
            yield Read(test.element, test.node, flag, test.moment)
    for use in uses(index):
        if use.value.kind == "flag":
            yield Read(use.element, use.node, use.value.text, use.moment)


def writing_nodes(index: Index) -> Iterator[tuple[Node, str]]:
    """Nodes through which a verb may write flags, each with the verb."""
    yield from index.calls()
    yield from index.intakes()
    for task in index.tasks("script"):
        if task.type:
            yield task, task.type
