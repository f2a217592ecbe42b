"""A task or event has a type, but is no work that a verb does.

Tasks without a kind and manual tasks are passed, people do user tasks, and receive tasks wait: the verb that the type
names is never called. The same is true of events that do not send a message.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.index import Index
from perdure.bpmn.model import (
    Event,
    MessageTrigger,
)

CODE = "BPM172"
NAME = "task-type-ignored"
SEVERITIES = Severities("warning")


_INSTEAD = {
    "none": ("a task without a kind is passed", "Make it a service task, or remove the type."),
    "manual": ("a manual task is passed", "Make it a service task, or remove the type."),
    "user": ("people do a user task", "Make it a service task, or remove the type and assign the task."),
    "receive": ("a receive task waits for its message", "Name the verb as the property `intake`, or remove the type."),
}


def check(index: Index) -> Iterator[Note]:
    for task in index.tasks(*_INSTEAD):
        if task.type:
            what, hint = _INSTEAD[task.kind]
            yield Note(task.id, f"its type '{task.type[:80]}' is ignored: {what}", hint)
    for event in index.events():
        if event.type and not _sends(event):
            fact = f"its type '{event.type[:80]}' is ignored: it sends no message"
            yield Note(event.id, fact, "Let a service task do the work, or remove the type.")


def _sends(event: Event) -> bool:
    return event.position in ("throw", "end") and any(isinstance(each, MessageTrigger) for each in event.triggers)
