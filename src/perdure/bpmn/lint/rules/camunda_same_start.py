"""Two start events of a process wait for one message or signal.

Camunda 8 refuses it. Keep one and lead from it.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, triggers_of
from perdure.bpmn.model import (
    Event,
    MessageTrigger,
    SignalTrigger,
)

CODE = "PRT112"
NAME = "camunda-same-start"
SEVERITIES = Severities("error", targets=("camunda",))


def check(index: Index) -> Iterator[Note]:
    for room in index.rooms:
        seen: set[tuple[str, str]] = set()
        for start in index.starts(room) if room.parent is None else ():
            for key in _keys(index, start):
                if key in seen:
                    fact = f"another start event waits for the {key[0]} '{key[1]}'"
                    yield Note(start.id, fact, "Keep one and lead from it.")
                seen.add(key)


def _keys(index: Index, event: Event) -> Iterator[tuple[str, str]]:
    for message in triggers_of(event, MessageTrigger):
        yield "message", index.message_name(message.message)
    for signal in triggers_of(event, SignalTrigger):
        yield "signal", index.signals[signal.signal].name if signal.signal in index.signals else ""
