"""One event is caught twice at one place.

Two boundary events of one activity, two event subprocesses of one scope, two ways of one event-based gateway or two
start events of one process catch the same error, escalation or message; which of them wins is not defined. So it is
with a signal where both interrupt, or both start the process: a signal starts it once. An event that waits for one of
several names each of them once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    CancelTrigger,
    CompensationTrigger,
    Error,
    ErrorTrigger,
    Escalation,
    EscalationTrigger,
    Event,
    Message,
    MessageTrigger,
    Node,
    Signal,
    SignalTrigger,
    Task,
    Trigger,
)

CODE = "BPM152"
NAME = "same-event-caught-twice"
SEVERITIES = Severities("error")
Key = tuple[str, str, str]
"""What is caught: its kind, its name or code, and for a message where its key comes from."""


def check(index: Index) -> Iterator[Note]:
    for nodes in _places(index):
        yield from _twice((node, key) for node in nodes for key in _keys(index, node))
    for event in index.events("start", "catch", "boundary"):
        if len(event.triggers) > 1 and not event.is_parallel:
            yield from _repeated(index, event)
    for room in index.rooms:
        if room.parent is None:
            begins = [node for node in room.body.nodes if _begins(node)]
            # Whoever starts a process waits for no key.
            yield from _twice((node, (kind, name, "")) for node in begins for kind, name, _ in _keys(index, node))


def _repeated(index: Index, event: Event) -> Iterator[Note]:
    keys = list(_keys(index, event))
    for kind, name, _ in dict.fromkeys(key for key in keys if keys.count(key) > 1):
        yield Note(event.id, f"it waits for the {kind} '{name}' twice", "Keep one of them.")


def _places(index: Index) -> Iterator[Sequence[Node]]:
    """What listens together: on one activity, in one scope, behind one gateway."""
    yield from index.boundaries.values()
    yield from index.event_starts.values()
    for gateway in index.gateways("event"):
        targets = (index.nodes.get(flow.target) for flow in index.outgoing(gateway.id))
        yield [target for target in targets if target is not None]


def _begins(node: Node) -> bool:
    return node.position == "start" if isinstance(node, Event) else isinstance(node, Task) and node.is_instantiating


def _twice(caught: Iterable[tuple[Node, Key]]) -> Iterator[Note]:
    seen: dict[Key, str] = {}
    for node, key in caught:
        first = seen.setdefault(key, node.id)
        if first != node.id:
            yield Note(node.id, f"it catches the same {key[0]} as '{first}'", "Keep one of them.")


def _keys(index: Index, node: Node) -> Iterator[Key]:
    if isinstance(node, Task) and node.kind == "receive":
        yield from _message(index, node.message)
    for trigger in node.triggers if isinstance(node, Event) else ():
        yield from _key(index, trigger, is_interrupting=node.is_interrupting)  # type: ignore[union-attr]


def _key(index: Index, trigger: Trigger, *, is_interrupting: bool) -> Iterator[Key]:
    match trigger:
        case ErrorTrigger(id):
            yield "error", _code(index.errors, id), ""
        case EscalationTrigger(id):
            yield "escalation", _code(index.escalations, id), ""
        case MessageTrigger(id):
            yield from _message(index, id)
        case SignalTrigger(id) if is_interrupting and id in index.signals:
            yield "signal", _name(index.signals[id]), ""
        case CompensationTrigger():
            yield "compensation", "", ""
        case CancelTrigger():
            yield "cancel", "", ""
        case _:
            pass


def _message(index: Index, id: str) -> Iterator[Key]:
    if (message := index.messages.get(id)) is not None:
        yield "message", _name(message), message.correlation.text if message.correlation is not None else ""


def _name(declared: Message | Signal) -> str:
    return declared.name or declared.id


def _code(declared: Mapping[str, Error | Escalation], id: str) -> str:
    """The code by which something is caught; empty for everything."""
    found = declared.get(id)
    code = (found.code or found.name or found.id) if found is not None else id
    return "" if code == "*" else code
