"""Values between us and Camunda's REST API, whichever release spells them: keys are numbers in 8.6 and text later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

PAYLOAD, PAYLOAD_HASH = "domain_payload", "domain_payload_hash"
LOOP = "loopCounter"
"""The variable of Zeebe that counts iterations of a multi-instance activity, from 1."""


class Request(msgspec.Struct, frozen=True, array_like=True):
    """What is asked of Camunda: kept before it is sent, so that the same is sent again."""

    method: str
    path: str
    body: Any = None
    is_once: bool = True
    """Whether 404 means that it was done or is not wanted any more, and not that it may be tried later."""


class ActivatedJob(msgspec.Struct, frozen=True):
    """A job that Camunda handed to us."""

    key: str
    type: str
    instance: str
    """The key of its process instance."""
    definition: str
    element: str
    element_instance: str
    retries: int
    variables: dict[str, Any]
    deadline: str = ""
    """When its lock ends, as Camunda writes it: two deliveries of one activation have the same."""

    @property
    def payload(self) -> str:
        value = self.variables.get(PAYLOAD)
        return value if isinstance(value, str) else ""

    @property
    def payload_hash(self) -> str:
        value = self.variables.get(PAYLOAD_HASH)
        return value if isinstance(value, str) else ""

    @property
    def iteration(self) -> int:
        value = self.variables.get(LOOP)
        return value if isinstance(value, int) else 0


def key_of(found: Mapping[str, Any], *names: str) -> str:
    """A key under the first of its names that is there, as text; empty when none is."""
    for name in names:
        value = found.get(name)
        if value is not None and value != "" and not isinstance(value, bool):
            return str(value)
    return ""


def read_jobs(answer: Mapping[str, Any]) -> list[ActivatedJob]:
    """The jobs of an answer to an activation; both spellings."""
    return [_job(each) for each in answer.get("jobs") or ()]


def _job(found: Mapping[str, Any]) -> ActivatedJob:
    variables = found.get("variables")
    return ActivatedJob(
        key=key_of(found, "jobKey", "key"),
        type=str(found.get("type", "")),
        instance=key_of(found, "processInstanceKey"),
        definition=key_of(found, "processDefinitionKey"),
        element=str(found.get("elementId", "")),
        element_instance=key_of(found, "elementInstanceKey"),
        retries=int(found.get("retries") or 0),
        variables=dict(variables) if isinstance(variables, Mapping) else {},
        deadline=str(found.get("deadline") or ""),
    )


def definition_keys(answer: Mapping[str, Any]) -> dict[str, str]:
    """The key of each process that a deployment brought, by its id."""
    found = {}
    for each in answer.get("deployments") or ():
        process = each.get("processDefinition") or each.get("process") or {}
        name = str(process.get("processDefinitionId") or process.get("bpmnProcessId") or "")
        if name:
            found[name] = key_of(process, "processDefinitionKey")
    return found


def instance_key(answer: Mapping[str, Any]) -> str:
    """The key of the process instance that an answer names."""
    return key_of(answer, "processInstanceKey")


def number(key: str) -> int | str:
    """A key in a body: the number that 8.6 reads; what is no number stays as it is."""
    return int(key) if key.isdecimal() else key


def partition_of(key: str) -> int:
    """The partition of the cluster that made a key."""
    return int(key) >> 51 if key.isdecimal() else 0


def gateway_version(topology: Mapping[str, Any]) -> str:
    return str(topology.get("gatewayVersion") or "")


def is_healthy(topology: Mapping[str, Any]) -> bool:
    """Whether every partition has a leader that works."""
    led = {
        each.get("partitionId")
        for broker in topology.get("brokers") or ()
        for each in broker.get("partitions") or ()
        if each.get("role") == "leader" and each.get("health") == "healthy"
    }
    return len(led) >= max(1, int(topology.get("partitionsCount") or 1))
