"""Opaque values of commands: a decision carries them along and never reads them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine.state import Flags
from perdure.bpmn.machine.transition_templates import Blank, Key
from perdure.human_tasks import Person
from perdure.journal import Origin

Values = tuple[Any, ...]

STEP = "step:"
COMMON: tuple[Blank, ...] = ("time", "text", "text")
"""The blanks every command has first: when, who and the trace."""


Brought = tuple[Key, Values, tuple[Blank, ...]]
"""What decides, the opaque values (after `COMMON`, those of the command itself), and what they are."""
RECORD_BLANKS: tuple[Blank, ...] = (*COMMON, "hash")
START_BLANKS: tuple[Blank, ...] = (*RECORD_BLANKS, "text", "text")
TASK_BLANKS: tuple[Blank, ...] = (*COMMON, "name")


def _flags(flags: Flags) -> Key:
    """By type as well: true and 1 are equal and are not the same."""
    return tuple((name, type(value), value) for name, value in flags.items()) if flags else ()


def _start(command: c.StartInstance, origin: Origin, now: int) -> Brought | None:
    parent = command.parent
    if not command.head or origin.behind or (parent and not parent.startswith(STEP)):
        return None
    values = (
        now, origin.principal, origin.trace, command.head, command.business_key, command.idempotency_key,
    )  # fmt: skip
    key = (
        command.process, command.process_version, command.start, command.worker, bool(parent), _flags(command.flags),
        command.agreed,
    )  # fmt: skip
    return (key, (*values, parent), (*START_BLANKS, "step")) if parent else (key, values, START_BLANKS)


def _given_start(command: c.StartInstance, values: Values) -> c.StartInstance:
    head, business_key, idempotency_key, *parent = values
    return replace(
        command, head=head, business_key=business_key, idempotency_key=idempotency_key, parent="".join(parent)
    )


def _record(command: c.RecordJob, origin: Origin, now: int) -> Brought | None:
    outcome = command.outcome
    if type(outcome) is not c.JobDone or not outcome.head or command.used is not None or command.budget is not None:
        return None
    flags = _flags(outcome.flags)
    key = (c.RecordJob, command.node, command.attempt, command.job_worker, command.worker, flags)
    return key, (now, origin.principal, origin.trace, outcome.head), RECORD_BLANKS


def _given_record(command: c.RecordJob, values: Values) -> c.RecordJob:
    assert isinstance(command.outcome, c.JobDone)
    return replace(command, outcome=c.JobDone(values[0], command.outcome.flags))


def _complete(command: c.CompleteTask, origin: Origin, now: int) -> Brought | None:
    who = command.who
    if (
        command.flags
        or command.message
        or command.seen
        or not who.name
        or who.behind
        or command.answer
        or command.documents
    ):
        return None  # who asked is an opaque value: a decision that compares it with more than a name must be made
    key = (c.CompleteTask, command.node, command.worker, command.writer, who.groups, who.override, bool(command.head))
    values = (now, origin.principal, origin.trace, who.name)
    return (key, (*values, command.head), (*TASK_BLANKS, "hash")) if command.head else (key, values, TASK_BLANKS)


def _given_complete(command: c.CompleteTask, values: Values) -> c.CompleteTask:
    name, *head = values
    who = Person(name, command.who.groups, command.who.override)
    return replace(command, who=who, head=b"".join(head))


READERS: dict[type, Callable[[Any, Origin, int], Brought | None]] = {
    c.StartInstance: _start,
    c.RecordJob: _record,
    c.CompleteTask: _complete,
}
_GIVEN: dict[type, Callable[[Any, Values], Any]] = {
    c.StartInstance: _given_start,
    c.RecordJob: _given_record,
    c.CompleteTask: _given_complete,
}


def given(command: Any, values: Values) -> tuple[Any, Origin, int]:
    """The same command with other opaque values, and when and by whom it is given then."""
    now, principal, trace, *own = values
    return _GIVEN[type(command)](command, tuple(own)), Origin("", principal, trace), now
