"""A task calls a verb that does not exist.

No worker would ever serve it: the job would wait for ever.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.contract import same_name
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.lint.model_queries import nearest

CODE = "HOL019"
NAME = "unknown-verb"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    if not index.verbs:
        return
    for node, name in (*index.calls(), *index.intakes()):
        if same_name(name) not in index.verbs:
            names = [verb.name for verb in index.verbs.values()]
            hint = nearest(name, names) or "Declare the verb, or correct the type."
            yield Note(node.id, f"it calls '{name}', and there is no such verb", hint)
