"""How instances and their entries as older releases wrote them become those of today."""

from __future__ import annotations

from typing import Any

import msgspec

from perdure.bpmn.machine.completed_activities import compact
from perdure.bpmn.machine.state import Done
from perdure.human_tasks import HumanTask, names_of
from perdure.journal import Upcaster, grown

NODES, NODE_AT, NODE_TASK, NODE_DONE = 13, 4, 8, 12
UNDOING, UNDOING_KEEPS = 25, 4


def _compacted(form: list[Any], place: int) -> list[Any]:
    """Version 1 listed what was done one by one."""
    if len(form) <= place:
        return form
    done = msgspec.convert(form[place], tuple[Done, ...])
    return [*form[:place], compact(done), *form[place + 1 :]]


def _with_task(node: list[Any]) -> list[Any]:
    """Version 1 kept the groups of a task as one text, and no more than who has it."""
    if len(node) <= NODE_TASK or node[NODE_TASK] is None:
        return node
    assignee, groups, users, due, claimed_by, base = node[NODE_TASK]
    task = HumanTask(
        state="claimed" if claimed_by else "open", assignee=assignee, groups=names_of(groups), users=names_of(users),
        claimed_by=claimed_by, opened_at=node[NODE_AT], due=due, base=base,
    )  # fmt: skip
    return [*node[:NODE_TASK], task, *node[NODE_TASK + 1 :]]


def _state_from_one(form: list[Any]) -> list[Any]:
    nodes = {number: _with_task(_compacted(node, NODE_DONE)) for number, node in form[NODES].items()}
    return [2, *form[1:NODES], nodes, *form[NODES + 1 :]]


def _entries_from_one(form: list[Any]) -> list[Any]:
    """A job retried by hand was numbered anew: its field, which says how many attempts there were, stays 0."""
    *head, entries = form[1:]
    return [2, *head, [_compacted(each, UNDOING_KEEPS) if each[0] == UNDOING else each for each in entries]]


def _from_two(form: list[Any]) -> list[Any]:
    """A job that was migrated had the key of its new element: old migrations do not say that keys are kept."""
    return [3, *form[1:]]


_GROWN = (grown(3), grown(4), grown(5), grown(6), grown(7))
STATE_UPCASTERS = (Upcaster(1, _state_from_one), Upcaster(2, _from_two), *_GROWN)
ENTRY_UPCASTERS = (Upcaster(1, _entries_from_one), Upcaster(2, _from_two), *_GROWN)
