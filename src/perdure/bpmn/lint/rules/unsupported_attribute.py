"""An attribute asks for something this engine does not do.

Several tokens to start or complete an activity, event gateways that wait for all events, processes that start when
several events have all occurred, multi-instance activities that throw events, event subprocesses and receive tasks at
the start that repeat, subprocesses that are not ad hoc and end by a condition, other implementations: nothing of this
is carried out, so it is refused rather than ignored. An `implementation` that is the name of a verb is the type of the
task, where no task definition says another.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.lint.model_queries import all_attributes

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
    starts = [event for room in index.rooms if room.kind() == "process" for event in index.starts(room)]
    for event in (*starts, *index.starting_catches()):
        if event.is_parallel and len(event.triggers) > 1:
            fact = "parallelMultiple='true' asks for a start by several events together, which is not supported"
            yield Note(event.id, fact, "Start by one of them, and wait for the others after it.")
    for task in index.tasks("receive"):
        if task.is_instantiating and task.repeat is not None:
            fact = "it starts instances, each by one message, and does not repeat"
            yield Note(task.id, fact, "Wait for further messages in a task after it.")
    for node in index.subprocesses("event"):
        if node.repeat is not None:
            yield Note(node.id, "an event subprocess does not repeat", "Repeat a subprocess inside it instead.")
    for node in index.subprocesses("embedded", "event", "transaction"):
        if node.completion is not None:
            fact = "its completionCondition would end it early, as is done with ad-hoc subprocesses only"
            yield Note(node.id, fact, "Remove the condition, or make it an ad-hoc subprocess.")
