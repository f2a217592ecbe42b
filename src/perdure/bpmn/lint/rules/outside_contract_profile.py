"""An element is not part of the contract profile.

The profile knows processes and embedded subprocesses; none start and end events; service, send, user and receive tasks;
message catch and throw events; timers as catch and boundary events; errors as boundary and end events; exclusive,
parallel and event-based gateways. Strictly, boundary events, timers, errors and all gateways but the exclusive one are
refused as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import ErrorTrigger, Event, Gateway, MessageTrigger, Node, SubProcess, Task, TimerTrigger
from perdure.bpmn.xml.namespaces import with_article

CODE = "AME040"
NAME = "outside-contract-profile"
SEVERITIES = Severities("error", hollow="off", open="off")

_TASKS = ("service", "send", "user", "receive")
_EVENTS: dict[str, tuple[tuple[type, ...], ...]] = {
    "start": ((),),
    "end": ((), (ErrorTrigger,)),
    "catch": ((MessageTrigger,), (TimerTrigger,)),
    "throw": ((MessageTrigger,),),
    "boundary": ((TimerTrigger,), (ErrorTrigger,)),
}


def check(index: Index) -> Iterator[Note]:
    for node in index.nodes.values():
        what = _outside(node) or (_strictly(node) if index.is_strict else "")
        if what:
            strictly = " in its strict reading" if not _outside(node) else ""
            fact = f"{what} is not part of the contract profile{strictly}"
            yield Note(node.id, fact, "Draw it with what the profile has, or use the hollow or open profile.")


def _outside(node: Node) -> str:
    if isinstance(node, Task):
        return _repetition(node) or ("" if node.kind in _TASKS else with_article(f"{node.kind.replace('_', ' ')} task"))
    if isinstance(node, SubProcess):
        kind = node.kind.replace("_", "-")
        return _repetition(node) or ("" if node.kind == "embedded" else with_article(f"{kind} subprocess"))
    if isinstance(node, Gateway):
        is_known = node.kind in ("exclusive", "parallel", "event") and not node.is_instantiating
        return "" if is_known else with_article(f"{node.kind} gateway")
    return _event(node) if isinstance(node, Event) else "a call activity"


def _repetition(node: Task | SubProcess) -> str:
    if node.is_for_compensation:
        return "compensation"
    if isinstance(node, Task) and node.is_instantiating:
        return "a task that begins the process"
    return "" if node.repeat is None else "repetition"


def _event(event: Event) -> str:
    kinds = tuple(type(trigger) for trigger in event.triggers)
    if kinds in _EVENTS[event.position]:
        return ""
    return with_article(f"{event.position} event of this kind")


def _strictly(node: Node) -> str:
    if isinstance(node, Gateway) and node.kind != "exclusive":
        return with_article(f"{node.kind} gateway")
    if isinstance(node, Event) and any(isinstance(trigger, TimerTrigger) for trigger in node.triggers):
        return "a timer"
    if isinstance(node, Event) and any(isinstance(trigger, ErrorTrigger) for trigger in node.triggers):
        return "an error event"
    return ""
