"""A message or signal that is waited for or sent has no name.

Messages and signals are matched by name. Without one nothing can be correlated.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, is_named
from perdure.bpmn.model import (
    MessageTrigger,
    SignalTrigger,
)

CODE = "BPM142"
NAME = "message-without-name"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for event, message in index.triggers(MessageTrigger):
        if not event.type and not is_named(index.message_name(message.message)):
            yield _unnamed(event.id, "message")
    for task in index.tasks("receive", "send"):
        is_empty = task.kind == "send" and not task.message  # it names nothing at all, which is told by itself
        if not task.type and not is_empty and not is_named(index.message_name(task.message)):
            yield _unnamed(task.id, "message")
    for event, signal in index.triggers(SignalTrigger):
        named = index.signals.get(signal.signal)
        if named is None or not is_named(named.name):
            yield _unnamed(event.id, "signal")


def _unnamed(element: str, kind: str) -> Note:
    return Note(element, f"its {kind} has no name", f"Choose a {kind} and name it.")
