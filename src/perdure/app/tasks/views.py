"""Task views: candidates, due date and the form of the answer."""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.errors import SchemaViolationError
from perdure.human_tasks import HumanTask, awaited_groups, joint_state
from perdure.runbooks.executor.agent_proposal import Proposal
from perdure.sources import Micros, iso


class RungView(msgspec.Struct, frozen=True):
    """One step of the ladder of a task: when it is due and what it does, and whether it was done."""

    at: str | None
    act: str
    to: str = ""
    is_done: bool = False


class GivenView(msgspec.Struct, frozen=True):
    """The answer of one person to a task, or a gate, that asks somebody of each of several groups.

    `data` is what they answered; None where it was erased, and at a gate.
    """

    group: str
    by: str
    at: str | None = None
    data: Any = None


class FieldError(msgspec.Struct, frozen=True):
    """What is wrong with one field of an answer, to be shown beside it; `path` is its JSON path."""

    path: str
    message: str
    hint: str = ""


class QuestionView(msgspec.Struct, frozen=True):
    """What an agent asks before it goes on: in words, and as data beside them."""

    agent: str
    text: str = ""
    data: Any = None


class TaskView(msgspec.Struct, frozen=True):
    """A human task; its `key` completes it. `form` is the JSON Schema of the answer, where one is declared; `known` are
    the fields that the process gives by itself, to be shown and never asked.

    Of a step of a runbook `instance` is the runbook, `token` the step's number and `process` its verb.
    """

    key: str
    instance: str
    token: int
    process: str
    element: str
    name: str
    assignee: str = ""
    groups: str = ""
    users: str = ""
    due: str = ""
    claimed_by: str = ""
    since: str | None = None
    number: int = 0
    state: str = "open"
    due_at: str | None = None
    is_overdue: bool = False
    four_eyes: bool = False
    requester: str = ""
    delegated_by: list[str] = []
    ladder: list[RungView] = []
    form: dict[str, Any] | None = None
    proposal: Proposal | None = None
    """What an agent proposes as the answer; `accept` takes it."""
    verb: str = ""
    """The verb it is part of: that of the step, or the one its process carries."""
    known: dict[str, Any] = {}
    link: str = ""
    """The task in the external task list; empty where a project has none."""
    seen: str = ""
    """What this view shows, by hashes; an answer that carries it is refused once that has changed."""
    awaited: list[str] = []
    """The groups of each of which somebody has yet to answer, where several are asked."""
    given: list[GivenView] = []
    """The answers so far, where several groups are asked; the task ends when all are given and the same."""
    progress: str = ""
    """Who has answered for which group and who is awaited, in words."""
    body: str = ""
    """What is asked, at length; shown with the form."""
    labels: list[str] = []
    question: QuestionView | None = None
    """What an agent asks there; it goes on with the answer."""


def of_task(task: HumanTask, now: Micros) -> dict[str, Any]:
    """The fields of a view that the task itself tells."""
    return {
        "assignee": task.assignee, "groups": ", ".join(task.groups), "users": ", ".join(task.users), "due": task.due,
        "claimed_by": task.claimed_by, "state": task.state, "due_at": iso(task.due_at or None),
        "is_overdue": bool(task.due_at) and task.due_at < now, "four_eyes": bool(task.requester),
        "requester": task.requester, "delegated_by": list(task.delegated_by), "ladder": _ladder(task),
        "awaited": list(awaited_groups(task)), "given": [GivenView(g.group, g.by, iso(g.at)) for g in task.given],
        "progress": joint_state(task),
    }  # fmt: skip


def _ladder(task: HumanTask) -> list[RungView]:
    return [
        RungView(iso(task.opened_at + rung.after), rung.act, rung.to, index < task.rung)
        for index, rung in enumerate(task.ladder)
    ]


def field_errors(error: SchemaViolationError) -> list[FieldError]:
    """What is wrong with an answer, field by field."""
    found = error.data.get("violations", [])
    return [FieldError(each["path"], each["reason"], each.get("hint", "")) for each in found]
