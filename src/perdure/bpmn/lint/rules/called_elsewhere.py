"""A call activity calls a process that is not in this file.

It may be deployed already, or come along in another file; lint of a file alone cannot know. Lint the files together.
When the process is not there at deployment, the deployment is refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, is_named
from perdure.bpmn.lint.model_queries import nearest
from perdure.bpmn.model import (
    CallActivity,
)

CODE = "BPM171"
NAME = "called-elsewhere"
SEVERITIES = Severities("warning", hollow="off", contract="off")


def check(index: Index) -> Iterator[Note]:
    if index.knows_all:
        return
    known = index.others.union(process.id for process in index.definitions.processes)
    here = known.union(index.model.global_tasks)
    for call in index.each(CallActivity):
        if is_named(call.process) and not call.process.startswith("=") and call.process not in here:
            hint = nearest(call.process, known) or "Deploy that process first, or along with this one."
            yield Note(call.id, f"it calls '{call.process}', which is not in this file", hint)
