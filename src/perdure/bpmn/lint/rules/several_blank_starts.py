"""A scope has more than one start event without a trigger.

When it is entered, it must be clear where. Keep one none start event and lead from it.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "BPM123"
NAME = "several-blank-starts"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for room in index.rooms:
        blank = [start for start in index.starts(room) if not start.triggers]
        for start in blank[1:] if room.kind() != "ad_hoc" else ():
            yield Note(start.id, f"'{room.id}' already starts at '{blank[0].id}'", "Keep one start event.")
