"""A timer is set by a flag that need not hold a time.

Declare the flag `type: string` with `format: duration` or `format: date-time`, so that a wrong value is refused when
it is written, not when the timer is due.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.flag_access import uses
from perdure.bpmn.lint.model_index import Index

CODE = "CON109"
NAME = "timer-flag-format"
SEVERITIES = Severities("error")


_FORMATS = {"duration": "duration", "date": "date-time", "cycle": ""}


def check(index: Index) -> Iterator[Note]:
    for use in uses(index):
        flag = index.flags.get(use.value.text) if use.value.kind == "flag" else None
        if flag is None:
            continue
        if use.role == "timer" and flag.format != _FORMATS[use.timer]:
            wanted = _FORMATS[use.timer]
            if wanted:
                fact = f"its timer is set by '{flag.name}', which is not declared with format: {wanted}"
                yield Note(use.element, fact, f"Declare type: string and format: {wanted}.")
            else:
                yield Note(use.element, f"its cycle is set by the flag '{flag.name}'", "Write the cycle as a literal.")
        elif use.role in ("due", "follow_up") and flag.format is None:
            role = "due date" if use.role == "due" else "follow-up date"
            fact = f"its {role} is set by '{flag.name}', which has no format"
            yield Note(use.element, fact, "Declare format: date-time or format: duration.")
