"""A condition stands where none is evaluated.

Flows from events, from parallel and from event-based gateways are taken regardless; a condition there promises a
decision that is not made. Decide with an exclusive or inclusive gateway.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    Event,
    Gateway,
)
from perdure.bpmn.xml.namespaces import with_article

CODE = "BPM115"
NAME = "condition-ignored"
SEVERITIES = Severities("error", open="warning")


def check(index: Index) -> Iterator[Note]:
    for flow in index.flows.values():
        source = index.nodes.get(flow.source)
        if flow.condition is None or source is None:
            continue
        if isinstance(source, Event) or (isinstance(source, Gateway) and source.kind in ("parallel", "event")):
            what = "an event" if isinstance(source, Event) else f"{with_article(source.kind)} gateway"
            fact = f"it leaves {what} and has a condition, which is never evaluated"
            yield Note(flow.id, fact, "Decide with an exclusive or inclusive gateway.")
