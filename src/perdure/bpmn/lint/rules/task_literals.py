"""A due date, follow-up date or priority of a user task is not one.

Dates are RFC 3339 with offset or an ISO 8601 duration from when the task opens; a priority is an integer from 0 to
100.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.flag_access import uses
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.lint.timer_literals import timer_fault
from perdure.moments import is_date_time

CODE = "BPM158"
NAME = "task-literals"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for use in uses(index):
        text = use.value.text.strip()
        if use.value.kind != "literal":
            continue
        if use.role in ("due", "follow_up") and not is_date_time(text) and timer_fault("duration", text):
            role = "due date" if use.role == "due" else "follow-up date"
            yield Note(use.element, f"its {role} `{text[:40]}` is neither a date nor a duration", "Write e.g. P3D.")
        if use.role == "priority" and not (text.isascii() and text.isdigit() and len(text) < 4 and int(text) <= 100):
            yield Note(use.element, f"its priority `{text[:40]}` is not from 0 to 100", "Write e.g. 50.")
