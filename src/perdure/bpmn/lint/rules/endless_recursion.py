"""A process calls itself on every way through it.

Every instance would begin another one, directly or through the processes between them, and none would ever end: the
engine stops after some dozens with an incident. Give it a way that ends without the call. A call that repeats may be
made not once, and is such a way.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, Room
from perdure.bpmn.model import (
    CallActivity,
    Process,
    SubProcess,
)

CODE = "BPM173"
NAME = "endless-recursion"
SEVERITIES = Severities("warning", hollow="off", contract="off")


def check(index: Index) -> Iterator[Note]:
    calls = [call for call in index.each(CallActivity) if _may_recur(index, call)]
    endless = {index.room_of[call.id].process.id for call in calls} & {call.process for call in calls}
    while True:
        blocked = {call.id for call in calls if call.process in endless}
        ending = {id for id in endless if f"{id}/end" in index.graph.reach([id], blocked.__contains__)}
        if not ending:
            break
        endless -= ending
    for call in calls:
        if call.process in endless and index.room_of[call.id].process.id in endless:
            fact = f"every way through the process leads to this call of '{call.process}', which leads back to it"
            yield Note(call.id, fact, "Give it a way that ends without the call.")


def _may_recur(index: Index, call: CallActivity) -> bool:
    """Whether whoever comes to it makes the call, of a process of this file."""
    owners = [room.owner for room in _around(index.room_of[call.id])]
    is_sure = call.repeat is None and not any(_may_be_skipped(each) for each in owners)
    return is_sure and any(process.id == call.process for process in index.processes)


def _around(room: Room | None) -> Iterator[Room]:
    while room is not None:
        yield room
        room = room.parent


def _may_be_skipped(owner: Process | SubProcess) -> bool:
    return isinstance(owner, SubProcess) and (owner.repeat is not None or owner.kind in ("ad_hoc", "event"))
