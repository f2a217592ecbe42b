"""Joining inclusive gateways need a recent Camunda 8.

Older clusters (before 8.6) refuse them. Parallel and exclusive gateways work on all.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "PRT111"
NAME = "camunda-inclusive-join"
SEVERITIES = Severities("warning", targets=("camunda",))


def check(index: Index) -> Iterator[Note]:
    for gateway in index.gateways("inclusive"):
        if len(index.incoming(gateway.id)) > 1:
            fact = "a joining inclusive gateway needs a recent Camunda 8"
            yield Note(gateway.id, fact, "Use parallel and exclusive gateways.")
