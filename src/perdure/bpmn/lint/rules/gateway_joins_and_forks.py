"""One gateway both joins and forks.

Readers see one of the two. Draw a joining and a forking gateway.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "BPM130"
NAME = "gateway-joins-and-forks"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    for gateway in index.gateways():
        if len(index.incoming(gateway.id)) > 1 and len(index.outgoing(gateway.id)) > 1:
            yield Note(gateway.id, "it both joins and forks", "Draw two gateways.")
