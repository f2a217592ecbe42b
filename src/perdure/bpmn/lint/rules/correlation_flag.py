"""The key of a wait is not a string flag that is written once.

The key is frozen when the wait opens; a flag that may change afterwards would no longer name the wait. Declare it
`type: string` and `once: true`. Without `=` the name of a flag is a text, under which all instances would wait.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.flag_access import uses
from perdure.bpmn.lint.model_index import Index

CODE = "CON104"
NAME = "correlation-flag"
SEVERITIES = Severities("error", open="warning")


def check(index: Index) -> Iterator[Note]:
    for use in uses(index):
        if use.role == "correlation" and use.value.kind != "flag" and use.value.text.startswith("orch_"):
            fact = f"its correlation key is the text '{use.value.text}', the same for every instance"
            yield Note(use.element, fact, f"Write ={use.value.text} for the value of the flag.")
        flag = index.flags.get(use.value.text) if use.role == "correlation" and use.value.kind == "flag" else None
        if flag is None:
            continue
        if flag.type != "string":
            fact = f"its correlation key '{flag.name}' is of type {flag.type}"
            yield Note(use.element, fact, "Declare the flag with type: string.")
        if not flag.once:
            yield Note(use.element, f"its correlation key '{flag.name}' may be written again", "Declare once: true.")
