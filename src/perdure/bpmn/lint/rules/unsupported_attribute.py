"""An attribute asks for something this engine does not do.

Several tokens to start or complete an activity, event gateways that wait for all events, processes that start when
several events have all occurred, multi-instance activities that throw events, event subprocesses that repeat, other
implementations: nothing of this is carried out, so it is refused rather than ignored. An `implementation` that is the
name of a verb is the type of the task, where no task definition says another.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.index import Index
from perdure.bpmn.lint.texts import all_attributes

CODE = "BPM165"
NAME = "unsupported-attribute"
SEVERITIES = Severities("error")


_ATTRIBUTES = {
    "startQuantity": "several tokens to start it",
    "completionQuantity": "several tokens when it completes",
    "eventGatewayType": "waiting for all events",
    "behavior": "events thrown by iterations",
    "noneBehaviorEventRef": "events thrown by iterations",
    "oneBehaviorEventRef": "events thrown by iterations",
    "method": "another kind of transaction",
    "implementation": "another implementation",
}


def check(index: Index) -> Iterator[Note]:
    for element, name, value in all_attributes(index):
        if name in _ATTRIBUTES:
            fact = f"{name}='{value[:40]}' asks for {_ATTRIBUTES[name]}, which is not supported"
            yield Note(element, fact, "Remove the attribute.")
    for room in index.rooms:
        for event in index.starts(room) if room.kind() == "process" else ():
            if event.is_parallel and len(event.triggers) > 1:
                fact = "parallelMultiple='true' asks for a start by several events together, which is not supported"
                yield Note(event.id, fact, "Start by one of them, and wait for the others after it.")
    for node in index.subprocesses("event"):
        if node.repeat is not None:
            yield Note(node.id, "an event subprocess does not repeat", "Repeat a subprocess inside it instead.")
