"""An element is not part of the contract profile.

The contract profile knows processes and embedded subprocesses, none and message start events, end events, service,
send, user and receive tasks, message catch and throw events, and exclusive gateways. Everything else is refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    Event,
    Gateway,
    MessageTrigger,
    Node,
    SubProcess,
    Task,
)

CODE = "CON001"
NAME = "outside-contract-profile"
SEVERITIES = Severities("error", hollow="off", open="off")


_TASKS = ("service", "send", "user", "receive", "script")


def check(index: Index) -> Iterator[Note]:
    for node in index.nodes.values():
        what = _outside(node)
        if what:
            yield Note(node.id, f"{what} is not part of the contract profile", "Use the hollow or open profile.")


def _outside(node: Node) -> str:
    if isinstance(node, Task):
        return _repetition(node) or ("" if node.kind in _TASKS else f"a {node.kind.replace('_', ' ')} task")
    if isinstance(node, SubProcess):
        kind = node.kind.replace("_", "-")
        return _repetition(node) or ("" if kind == "embedded" else f"an {kind} subprocess")
    if isinstance(node, Gateway):
        return "" if node.kind == "exclusive" else f"a {node.kind} gateway"
    return _event(node) if isinstance(node, Event) else ""


def _repetition(node: Task | SubProcess) -> str:
    if node.is_for_compensation:
        return "compensation"
    return "" if node.repeat is None else "repetition"


def _event(event: Event) -> str:
    if event.position == "boundary":
        return "a boundary event"
    messages = event.position != "end" and len(event.triggers) == 1 and isinstance(event.triggers[0], MessageTrigger)
    is_blank = not event.triggers and event.position in ("start", "end")
    return "" if messages or is_blank else f"a {event.position} event of this kind"
