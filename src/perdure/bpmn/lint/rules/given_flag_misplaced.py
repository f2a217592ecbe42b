"""A condition reads a count that is not given there.

`orch_activation_count` is given to the activation condition of a complex gateway, `orch_completed_count` to the
completion condition of multi-instance and ad-hoc activities. Elsewhere they have no value.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.flag_access import reads
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    GIVEN_FLAGS,
)

CODE = "BPM164"
NAME = "given-flag-misplaced"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for read in reads(index):
        if read.flag in GIVEN_FLAGS:
            yield Note(read.element, f"'{read.flag}' is not given here", "Let a verb set a flag of your own.")
