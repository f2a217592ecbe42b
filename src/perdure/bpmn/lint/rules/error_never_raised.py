"""An error is caught that nothing in reach raises.

Neither the verb of the activity nor an error end event inside it declares that code. It is misspelt, or the path is
dead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from perdure.bpmn.lint.contract import same_name
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, triggers_of
from perdure.bpmn.lint.model_queries import nearest
from perdure.bpmn.model import (
    CallActivity,
    ErrorTrigger,
    Event,
    Node,
    SubProcess,
    Task,
    nodes,
)

CODE = "CON103"
NAME = "error-never-raised"
SEVERITIES = Severities("error", open="warning")


def check(index: Index) -> Iterator[Note]:
    for event, trigger in index.triggers(ErrorTrigger, "boundary", "start") if index.contract is not None else ():
        error = index.errors.get(trigger.error)
        if error is None or not error.code:
            continue
        raised = _raised(index, _scope(index, event))
        if raised is not None and error.code not in raised:
            hint = nearest(error.code, raised) or f"Raised in reach: {', '.join(sorted(raised)) or 'nothing'}."
            yield Note(event.id, f"it catches '{error.code}', which nothing in reach raises", hint)


def _scope(index: Index, event: Event) -> list[Node]:
    if event.position == "boundary":
        host = index.nodes.get(event.attached_to)
        if host is None:
            return []
        return [*nodes(host.body)] if isinstance(host, SubProcess) else [host]
    parent = index.room_of[event.id].parent
    return [] if parent is None else [*nodes(parent.body)]


def _raised(index: Index, reachable: Iterable[Node]) -> set[str] | None:
    """The codes that may be raised; None when some verb does not say what it raises."""
    raised: set[str] = set()
    for node in reachable:
        if isinstance(node, CallActivity):
            return None
        for trigger in triggers_of(node, ErrorTrigger) if isinstance(node, Event) and node.position == "end" else ():
            raised.add(index.errors[trigger.error].code if trigger.error in index.errors else "")
        for name in _verbs(node):
            verb = index.verbs.get(same_name(name))
            if verb is None or verb.errors is None:
                return None
            raised.update(verb.errors)
    return raised


def _verbs(node: Node) -> list[str]:
    verb = node.type if isinstance(node, (Task, Event)) else ""
    return [name for name in (verb, node.properties.get("intake", "")) if name]
