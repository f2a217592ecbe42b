"""Engine requests: what a decision of the instance machine asks of Camunda, so that its token moves the same way.

| decision | request |
|---|---|
| a job completed | completion with the payload and the flags that it wrote, and nothing else |
| a job failed, and is tried again | failure with the retries that are left and the pause before the next |
| a business error that an event catches | error with its code |
| an incident | failure without retries: an incident there, with the same words |
| a message came | correlation, with the payload as it is then |
| a task was completed, claimed, given back, handed on | the same of the user task; completion of its job where our journal holds it |
| an incident is retried, or resolved by hand | retries, resolution, and the completion or error |
| cancelled, migrated | the same |
| moved to another engine | cancellation: it goes on elsewhere |
| whatever else | none: it moves no token |

Pure.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.state import Failure, Instance
from perdure.engines.camunda.wire import PAYLOAD, PAYLOAD_HASH, Request, number

MAX_WORDS = 2_000


class Keys(NamedTuple):
    """The keys of Camunda for what a command is about; empty where it is about nothing of the kind."""

    instance: str = ""
    job: str = ""
    task: str = ""
    incident: str = ""
    definition: str = ""
    retries: int = 1
    """Attempts that are left to the job after this one."""


class Payload(NamedTuple):
    """The head after a decision: its text and its hash as they are seen."""

    text: str
    hash: str


def requests_for(
    command: Any, before: Instance, entries: Sequence[Any], keys: Keys, payload: Payload | None
) -> tuple[Request, ...]:
    """The requests that go with a decision, in their order."""
    variables = _variables(entries, payload)
    match command:
        case c.RecordJob():
            return _job(entries, keys, variables)
        case c.RaiseIncident():
            return (_failure(keys, 0, command.text),) if keys.job else ()
        case c.Correlate():
            return _message(command, before, variables)
        case c.CompleteTask():
            return _completed_task(entries, keys, variables)
        case c.ClaimTask() | c.UnclaimTask() | c.DelegateTask() | c.ReassignTask():
            return _assignment(command, keys) if keys.task else ()
        case c.RetryIncident() | c.ResolveIncident():
            return _incident(command, keys, variables)
        case c.Cancel() | c.ChangeCarrier():
            return (Request("POST", f"/process-instances/{keys.instance}/cancellation", {}),)
        case c.Migrate():
            return (_migration(command, before, keys),)
        case _:
            return ()


def _variables(entries: Sequence[Any], payload: Payload | None) -> dict[str, Any]:
    """What a decision changes that Camunda may see."""
    flags: dict[str, Any] = {}
    for entry in entries:
        if isinstance(entry, e.FlagsWritten):
            flags.update(entry.flags)
    return {**({PAYLOAD: payload.text, PAYLOAD_HASH: payload.hash} if payload is not None else {}), **flags}


def first_variables(flags: Mapping[str, Any], payload: Payload) -> dict[str, Any]:
    """All the variables of an instance as it begins."""
    return {PAYLOAD: payload.text, PAYLOAD_HASH: payload.hash, **flags}


# --- jobs ------------------------------------------------------------------------------------------------------------


def _job(entries: Sequence[Any], keys: Keys, variables: dict[str, Any]) -> tuple[Request, ...]:
    if not keys.job:
        return ()
    for entry in entries:
        match entry:
            case e.JobCompleted():
                return (Request("POST", f"/jobs/{keys.job}/completion", {"variables": variables}),)
            case e.ErrorThrown(kind="error") if entry.caught_by:
                return (_error(keys, entry.code, _failed(entries)),)
            case e.IncidentRaised():
                return (_failure(keys, 0, entry.text),)
            case e.JobHeld() if entry.retry_at:
                pause = max(0, (entry.retry_at - entry.at) // 1000)
                return (_failure(keys, max(1, keys.retries), entry.text, pause),)
            case e.JobFailed() if entry.retry_at:
                pause = max(0, (entry.retry_at - entry.at) // 1000)
                return (_failure(keys, max(1, keys.retries), entry.failure.message, pause),)
    return ()


def _failed(entries: Sequence[Any]) -> Failure | None:
    return next((entry.failure for entry in entries if isinstance(entry, e.JobFailed)), None)


def _failure(keys: Keys, retries: int, words: str, pause: int = 0) -> Request:
    body = {"retries": retries, "errorMessage": words[:MAX_WORDS], "retryBackOff": pause}
    return Request("POST", f"/jobs/{keys.job}/failure", body)


def _error(keys: Keys, code: str, failure: Failure | None) -> Request:
    body = {"errorCode": code, "errorMessage": failure.message[:MAX_WORDS] if failure is not None else code}
    return Request("POST", f"/jobs/{keys.job}/error", body)


# --- messages and tasks ----------------------------------------------------------------------------------------------


def _message(command: c.Correlate, before: Instance, variables: dict[str, Any]) -> tuple[Request, ...]:
    watch = before.watches.get(command.watch)
    if watch is None or watch.kind != "message":
        return ()
    body = {"name": watch.name, "correlationKey": watch.key, "variables": variables}
    return (Request("POST", "/messages/correlation", body, is_once=False),)


def _completed_task(entries: Sequence[Any], keys: Keys, variables: dict[str, Any]) -> tuple[Request, ...]:
    if not any(isinstance(entry, e.TaskCompleted) for entry in entries):
        return ()  # one of several who have to answer
    if keys.task:
        return (Request("POST", f"/user-tasks/{keys.task}/completion", {"variables": variables}),)
    return (Request("POST", f"/jobs/{keys.job}/completion", {"variables": variables}),)


def _assignment(command: Any, keys: Keys) -> tuple[Request, ...]:
    task = f"/user-tasks/{keys.task}"
    match command:
        case c.ClaimTask():
            return (_assigned(task, command.who.name),)
        case c.UnclaimTask():
            return (Request("DELETE", f"{task}/assignee"),)
        case c.DelegateTask():
            return (_assigned(task, command.to),)
        case c.ReassignTask() if command.to:
            return (_assigned(task, command.to),)
        case c.ReassignTask():
            groups = [each.strip() for each in command.groups.split(",") if each.strip()]
            return (Request("PATCH", task, {"changeset": {"candidateGroups": groups}}),)
        case _:
            return ()


def _assigned(task: str, to: str) -> Request:
    return Request("POST", f"{task}/assignment", {"assignee": to, "allowOverride": True})


# --- operators -------------------------------------------------------------------------------------------------------


def _incident(
    command: c.RetryIncident | c.ResolveIncident, keys: Keys, variables: dict[str, Any]
) -> tuple[Request, ...]:
    opened = [Request("POST", f"/incidents/{keys.incident}/resolution", {})] if keys.incident else []
    edited = _edited(command, keys, variables)
    if not keys.job:
        return (*edited, *opened)
    retries = Request("PATCH", f"/jobs/{keys.job}", {"changeset": {"retries": max(1, keys.retries)}})
    if isinstance(command, c.RetryIncident):
        return (*edited, retries, *opened)
    if command.error:
        return (retries, *opened, _error(keys, command.error, None))
    return (retries, *opened, Request("POST", f"/jobs/{keys.job}/completion", {"variables": variables}))


def _edited(command: c.RetryIncident | c.ResolveIncident, keys: Keys, variables: dict[str, Any]) -> tuple[Request, ...]:
    """The flags that were set by hand before something is tried again."""
    if not isinstance(command, c.RetryIncident):
        return ()
    values = {name: value for name, value in variables.items() if name in command.flags}
    path = f"/element-instances/{keys.instance}/variables"
    return (Request("PUT", path, {"variables": values}),) if values else ()


def _migration(command: c.Migrate, before: Instance, keys: Keys) -> Request:
    standing = {node.element for node in before.nodes.values() if node.parent}
    pairs = {element: command.mapping.get(element, element) for element in sorted(standing)}
    body = {
        "targetProcessDefinitionKey": number(keys.definition),
        "mappingInstructions": [{"sourceElementId": old, "targetElementId": new} for old, new in pairs.items()],
    }
    return Request("POST", f"/process-instances/{keys.instance}/migration", body)
