"""A task or event has a type that no verb is called by, or people are assigned who have nothing to do.

Tasks without a kind and manual tasks are passed, people do user tasks, and receive tasks wait: the verb that the type
names is never called. The same is true of events that do not send a message. People, due dates, priorities and forms
are of user tasks alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    Event,
    MessageTrigger,
    Task,
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
    for task in index.tasks():
        if task.kind != "user" and any(_of_people(task)):
            fact = "it says who does it, until when or by which form, and is no user task"
            yield Note(task.id, fact, "Make it a user task, or remove that.")
    for event in index.events():
        if event.type and not _sends(event):
            fact = f"its type '{event.type[:80]}' is ignored: it sends no message"
            yield Note(event.id, fact, "Let a service task do the work, or remove the type.")


def _of_people(task: Task) -> Iterator[object]:
    yield from (task.assignee, task.groups, task.users, task.due, task.follow_up, task.priority)
    yield task.form or task.is_native


def _sends(event: Event) -> bool:
    return event.position in ("throw", "end") and any(isinstance(each, MessageTrigger) for each in event.triggers)
