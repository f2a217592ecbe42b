"""Camunda 8 does not accept two waits for one message or signal at one place.

Boundary events of one activity, event subprocesses of one scope and events after one event-based gateway each wait
for something of their own.
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

CODE = "PRT120"
NAME = "camunda-same-wait"
SEVERITIES = Severities("error", targets=("camunda",))


def check(index: Index) -> Iterator[Note]:
    for events in (*index.boundaries.values(), *index.event_starts.values(), *_races(index)):
        seen: dict[tuple[str, str], str] = {}
        for event in events:
            for key in _keys(index, event):
                first = seen.setdefault(key, event.id)
                if first != event.id:
                    fact = f"it waits for the {key[0]} '{key[1]}', as '{first}' does"
                    yield Note(event.id, fact, "Wait once, and decide after it.")


def _races(index: Index) -> Iterator[list[Event]]:
    for gateway in index.gateways("event"):
        targets = [index.nodes.get(flow.target) for flow in index.outgoing(gateway.id)]
        yield [target for target in targets if isinstance(target, Event)]


def _keys(index: Index, event: Event) -> Iterator[tuple[str, str]]:
    for message in triggers_of(event, MessageTrigger):
        yield "message", index.message_name(message.message)
    for signal in triggers_of(event, SignalTrigger):
        yield "signal", index.signals[signal.signal].name if signal.signal in index.signals else ""
