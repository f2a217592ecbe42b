"""A call activity calls a process that is not known.

It is neither in this file nor deployed. Correct the id, or deploy the process first.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.index import Index, is_named
from perdure.bpmn.lint.texts import nearest
from perdure.bpmn.model import (
    CallActivity,
)

CODE = "BPM151"
NAME = "unknown-process"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    here = {process.id for process in index.definitions.processes}
    known = here | set(index.contract.processes if index.contract is not None else ())
    for call in index.each(CallActivity):
        if not is_named(call.process):
            yield Note(call.id, "it does not say which process it calls", "Give it the id of a process.")
        elif index.contract is not None and call.process not in known:
            hint = nearest(call.process, known) or "Correct the id, or deploy the process first."
            yield Note(call.id, f"it calls '{call.process}', which is not known", hint)
