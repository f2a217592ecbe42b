"""A message flow stays within one pool.

Messages go between pools; inside a pool the path is a sequence flow.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "BPM160"
NAME = "message-flow-in-one-pool"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    collaboration = index.definitions.collaboration
    if collaboration is None:
        return
    pools = {participant.id: participant.process for participant in collaboration.participants if participant.process}
    for flow in collaboration.message_flows:
        ends = [pools.get(id) or _process(index, id) for id in (flow.source, flow.target)]
        if ends[0] and ends[0] == ends[1]:
            yield Note(flow.id, f"both ends are in '{ends[0]}'", "Use a sequence flow, or lead it to another pool.")


def _process(index: Index, id: str) -> str:
    return index.room_of[id].process.id if id in index.room_of else ""
