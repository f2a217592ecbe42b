"""A complex gateway joins without saying when it is activated.

Without an activation condition it waits for every token, as a parallel gateway does. Use that, or say how many are
enough, e.g. `orch_activation_count >= 2`.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "BPM162"
NAME = "complex-without-activation"
SEVERITIES = Severities("warning")


def check(index: Index) -> Iterator[Note]:
    for gateway in index.gateways("complex"):
        if gateway.activation is None and len(index.incoming(gateway.id)) > 1:
            hint = "Write e.g. orch_activation_count >= 2, or use a parallel gateway."
            yield Note(gateway.id, "it joins and has no activation condition", hint)
