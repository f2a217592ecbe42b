"""A sequence flow leaves its process or subprocess.

Tokens stay in their scope; a subprocess is entered at its start and left at its end, and pools speak by messages.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.index import Index

CODE = "BPM150"
NAME = "flow-crosses-scope"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for flow in index.flows.values():
        room = index.room_of[flow.id]
        for id in (flow.source, flow.target):
            if id in index.nodes and index.room_of[id] is not room:
                yield Note(flow.id, f"it leads to or from '{id}', which is in another scope", "Connect within a scope.")
                break
