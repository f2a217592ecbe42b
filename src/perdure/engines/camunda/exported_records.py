"""Exported records: what Camunda's exporter tells of instances, reduced to the facts that our journal lacks.

| record | fact |
|---|---|
| TIMER TRIGGERED | a timer of an element fired |
| USER_TASK CREATED, ASSIGNED, COMPLETED, CANCELED | a user task has a key, an assignee, an end, is wanted no more |
| INCIDENT CREATED, RESOLVED | an incident has a key, is over |
| PROCESS_INSTANCE ELEMENT_COMPLETED, ELEMENT_TERMINATED of the process itself | the instance ended |

Pure: records are ordered and repeats dropped by partition and position.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from perdure.engines.camunda.wire import key_of

FactKind = Literal[
    "timer", "task", "assigned", "task_done", "task_gone", "incident", "resolved", "completed", "terminated"
]  # fmt: skip
_KINDS: dict[tuple[str, str], FactKind] = {
    ("TIMER", "TRIGGERED"): "timer",
    ("USER_TASK", "CREATED"): "task",
    ("USER_TASK", "ASSIGNED"): "assigned",
    ("USER_TASK", "COMPLETED"): "task_done",
    ("USER_TASK", "CANCELED"): "task_gone",
    ("INCIDENT", "CREATED"): "incident",
    ("INCIDENT", "RESOLVED"): "resolved",
    ("PROCESS_INSTANCE", "ELEMENT_COMPLETED"): "completed",
    ("PROCESS_INSTANCE", "ELEMENT_TERMINATED"): "terminated",
}
MAX_WORDS = 2_000


class Fact(msgspec.Struct, frozen=True, array_like=True):
    """One thing that happened to an instance in Camunda, under its place in the log of a partition."""

    kind: FactKind
    partition: int
    position: int
    at: int
    """Milliseconds, by Camunda's clock."""
    instance: str
    element: str = ""
    key: str = ""
    """Of the user task or the incident."""
    job: str = ""
    element_instance: str = ""
    who: str = ""
    words: str = ""

    @property
    def name(self) -> str:
        return f"{self.partition}/{self.position}"


class Place(msgspec.Struct, array_like=True):
    """How far each partition was read."""

    positions: dict[int, int] = {}

    def is_new(self, partition: int, position: int) -> bool:
        return position > self.positions.get(partition, -1)

    def reach(self, partition: int, position: int) -> None:
        if self.is_new(partition, position):
            self.positions[partition] = position


def read_bulk(body: bytes) -> list[dict[str, Any]]:
    """The records of a bulk request: every second line; lines that are no JSON are left out."""
    found = []
    for line in body.split(b"\n")[1::2]:
        if not line.strip():
            continue
        try:
            found.append(msgspec.json.decode(line, type=dict[str, Any]))
        except msgspec.DecodeError:
            continue
    return found


def actions_of(body: bytes) -> int:
    """How many records a bulk request holds: each is answered."""
    return sum(1 for line in body.split(b"\n") if line.strip()) // 2


def facts_of(records: Iterable[Mapping[str, Any]], place: Place) -> list[Fact]:
    """The facts of records, in the order of their log, without those that were read before."""
    found = {(int(each.get("partitionId") or 0), int(each.get("position") or 0)): each for each in records}
    facts = []
    for (partition, position), record in sorted(found.items()):
        if not place.is_new(partition, position):
            continue
        if (fact := fact_of(record)) is not None:
            facts.append(fact)
    return facts


def fact_of(record: Mapping[str, Any]) -> Fact | None:
    """The fact behind a record; None for what our journal knows by itself."""
    value = record.get("value")
    kind = _KINDS.get((str(record.get("valueType")), str(record.get("intent"))))
    if kind is None or record.get("recordType") != "EVENT" or not isinstance(value, Mapping):
        return None
    if kind in ("completed", "terminated") and not _is_whole(value):
        return None
    words = " ".join(str(value.get(name)) for name in ("errorType", "errorMessage") if value.get(name))
    return Fact(
        kind=kind, partition=int(record.get("partitionId") or 0), position=int(record.get("position") or 0),
        at=int(record.get("timestamp") or 0), instance=key_of(value, "processInstanceKey"),
        element=str(value.get("targetElementId") or value.get("elementId") or ""),
        key=_key(kind, record, value), job=_job(value), element_instance=key_of(value, "elementInstanceKey"),
        who=str(value.get("assignee") or ""), words=words[:MAX_WORDS],
    )  # fmt: skip


def _is_whole(value: Mapping[str, Any]) -> bool:
    """Whether a record of an element is about a process that nothing in Camunda called."""
    return value.get("bpmnElementType") == "PROCESS" and key_of(value, "parentProcessInstanceKey") in ("", "-1")


def _key(kind: FactKind, record: Mapping[str, Any], value: Mapping[str, Any]) -> str:
    if kind in ("task", "assigned", "task_done", "task_gone"):
        return key_of(value, "userTaskKey")
    return key_of(record, "key")


def _job(value: Mapping[str, Any]) -> str:
    key = key_of(value, "jobKey")
    return "" if key == "-1" else key
