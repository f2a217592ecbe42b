"""A task calls a durable verb from inside a durable verb.

Nested waits make cancellation, timeouts and compensation ambiguous. A durable verb composes sync verbs; hand over to
another long process by message.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.contract import same_name
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "HOL014"
NAME = "nested-durable-verb"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for node, name in (*index.calls(), *index.intakes()):
        verb = index.verbs.get(same_name(name))
        if verb is not None and verb.is_durable:
            fact = f"it calls '{name}', which is durable itself"
            yield Note(node.id, fact, "Send a message that starts it, and wait for its answer with a message event.")
