"""A property that begins with `perdure:` is not known, or does not stand on a user task.

Known are `perdure:fourEyes`, `perdure:agents`, `perdure:body`, `perdure:labels`, `perdure:remind`, `perdure:reassign`
and `perdure:escalate`; elsewhere they have no effect, and somebody would rely on them.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.lint.model_queries import nearest
from perdure.bpmn.model import Task
from perdure.bpmn.task_properties import KNOWN, PREFIX

CODE = "BPM168"
NAME = "task-property"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for node in index.nodes.values():
        is_user = isinstance(node, Task) and node.kind == "user"
        for name in node.properties:
            if not name.startswith(PREFIX):
                continue
            if name not in KNOWN:
                yield Note(node.id, f"its property {name[:60]} is not known", nearest(name, KNOWN) or "Remove it.")
            elif not is_user:
                yield Note(node.id, f"its property {name} has no effect on what is no user task", "Move or remove it.")
