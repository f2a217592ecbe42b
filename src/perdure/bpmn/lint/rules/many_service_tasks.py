"""The process has more service tasks than a reader can follow.

More than fifteen calls in one process usually means that several durable verbs are drawn as one. Split it, or move
sequences that always run together into one verb.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "HOL015"
NAME = "many-service-tasks"
SEVERITIES = Severities("warning", open="off")


MOST = 15


def check(index: Index) -> Iterator[Note]:
    counts = Counter(index.room_of[node.id].process.id for node, _ in index.calls())
    for process, count in counts.items():
        if count > MOST:
            yield Note(process, f"it has {count} service tasks, more than {MOST}", "Split it, or combine verbs.")
