"""A default flow stands where no decision is made.

Parallel and event-based gateways take their flows regardless of a default.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.xml.namespaces import with_article

CODE = "BPM116"
NAME = "default-ignored"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for gateway in index.gateways("parallel", "event"):
        if gateway.default:
            yield Note(gateway.id, f"{with_article(gateway.kind)} gateway has no default flow", "Remove the default.")
