"""Camunda 8 does not carry events with several triggers.

It refuses those that wait for several. Those that throw several are accepted there and may run differently without a
word, so that they are refused here. Use an event-based gateway, or one event for each trigger.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "PRT103"
NAME = "camunda-multiple-event"
SEVERITIES = Severities("error", targets=("camunda",))


def check(index: Index) -> Iterator[Note]:
    for event in index.events():
        if len(event.triggers) > 1:
            fact = f"it has {len(event.triggers)} triggers, and Camunda 8 carries one"
            yield Note(event.id, fact, "Use an event-based gateway, or one event for each trigger.")
