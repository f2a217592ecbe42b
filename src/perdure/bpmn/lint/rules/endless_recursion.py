"""A process calls itself on every way through it.

Every instance would begin another one, directly or through the processes between them, and none would ever end: the
engine stops after some dozens with an incident. Give it a way that ends without the call.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.index import Index
from perdure.bpmn.model import (
    CallActivity,
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
    return any(process.id == call.process for process in index.processes)
