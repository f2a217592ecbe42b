"""The file has no process that can be executed.

A file with black-box pools or drawings only has nothing to deploy. Mark the process executable.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "BPM101"
NAME = "no-executable-process"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    if not index.processes:
        drawn = index.definitions.processes
        element = drawn[0].id if drawn else index.definitions.id
        fact = "no process is executable" if drawn else "there is no process"
        hint = 'Set isExecutable="true" on the process that is to run.' if drawn else "Draw the process that is to run."
        yield Note(element, fact, hint)
