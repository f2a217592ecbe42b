"""Incidents as operators see them: why something is stuck, what can be done about it, and doing it for many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from perdure.app.calls import operator_interventions
from perdure.app.instances.incident_retry import retry_tokens
from perdure.app.lists.list_rows import ActionView
from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.bpmn.machine.call_activity_flags import GRAVER_CALL
from perdure.errors import RejectedError, Rejection
from perdure.kernel.kernel import Aggregate
from perdure.lifecycles.instances import KIND as LIFECYCLE
from perdure.lifecycles.machine.incidents import ACTION as FAILED_ACTION
from perdure.runbooks.executor.call_executor import KIND as RUNBOOK
from perdure.sources import id_text, parse_id

if TYPE_CHECKING:
    from perdure.app.operations.operation import Context
    from perdure.app.perdure import Perdure
    from perdure.app.runtime import Runtime

CALL = "call"
CAUSES = {
    "attempt.interrupted": "The work was cut off and nobody knows whether it was done.",
    "attempt.unrecorded": "What the work came to could not be kept.",
    "definition.missing": "Its verb is not loaded anywhere any more.",
    "call_failed": "A process that it called did not complete.",
    "lifecycle.interest": "It asks for more facts than it can wait for.",
    "lifecycle.restless": "It moved on by itself without coming to rest.",
    "lifecycle.unreachable": "The state it should go to cannot be entered.",
    GRAVER_CALL: "A process that it calls has become graver than its start was agreed to for.",
}
"""Why, in an operator's words; of others the incident says it itself."""


class Place(msgspec.Struct, frozen=True):
    """Where something is stuck. Without a number it is everything that is stuck in it."""

    id: str
    number: int | None = None


def actions_of(kind: str, id: str, place: int, code: str = "") -> list[ActionView]:
    """What can be done about an incident, the mildest first."""
    if kind == INSTANCE:
        base = f"/api/instances/{id}"
        return [
            ActionView("retry", "Try again", "instance.retry", f"{base}/retry"),
            ActionView("resolve", "End it by hand", "instance.resolve", f"{base}/resolve"),
            ActionView("modify", "Move its tokens", "instance.modify", f"{base}/modify"),
            ActionView("migrate", "Go on under another version", "instance.migrate", f"{base}/migrate"),
            ActionView("cancel", "Stop it", "instance.cancel", f"{base}/cancel"),
        ]
    if kind == LIFECYCLE:
        base = f"/api/lifecycles/{id}"
        stop = ActionView("cancel", "Stop it", "lifecycle.cancel", f"{base}/cancel")
        if not place:
            return [
                ActionView("look", "Look again", "lifecycle.look", f"{base}/look"),
                ActionView("migrate", "Go on under another version", "lifecycle.migrate", f"{base}/migrate"),
                stop,
            ]
        task = f"{base}/tasks/{place}"
        retry = ActionView("retry", "Try again", "lifecycle.retry", f"{task}/retry")
        if code == FAILED_ACTION:
            return [retry, ActionView("dismiss", "Leave it at that", "lifecycle.dismiss", f"{task}/dismiss")]
        return [retry, stop]
    if kind == CALL:
        base = f"/api/calls/{id}"
        return [
            ActionView("retry", "Try again", "call.retry", f"{base}/retry"),
            ActionView("resolve", "End it by hand", "call.resolve", f"{base}/resolve"),
            ActionView("cancel", "Stop it", "call.cancel", f"{base}/cancel"),
        ]
    runbook = f"/api/runbooks/{id}"
    base = f"{runbook}/steps/{place}"
    return [
        ActionView("retry", "Try again", "runbook.retry", f"{base}/retry"),
        ActionView("skip", "Go on without it", "runbook.skip", f"{base}/skip"),
        ActionView("cancel", "Stop it", "runbook.cancel", f"{base}/cancel"),
        ActionView("compensate", "Take back what was done", "runbook.compensate", f"{runbook}/compensate"),
    ]


def damage_actions_of(kind: str, id: str) -> list[ActionView]:
    """What can be done about damaged work besides restoring it."""
    stop = [each for each in actions_of(kind, id, 0) if each.act == "cancel"]
    if kind == RUNBOOK:
        stop = [ActionView("cancel", "Stop it", "runbook.cancel", f"/api/runbooks/{id}/cancel")]
    if kind != CALL:
        return stop if kind in (INSTANCE, RUNBOOK) else []
    return [ActionView("amend", "Put other data in its place", "call.amend", f"/api/calls/{id}/amend"), *stop]


def place_of_incident(text: str) -> Place:
    """`<id>` or `<id>:<number>`."""
    letters, colon, number = text.partition(":")
    if colon and not (number.isascii() and number.isdigit() and len(number) < 20):
        hint = "An incident is named `<id>` or `<id>:<number of the step or token>`."
        raise RejectedError(Rejection("not_found", "find", "incident", text[:80], "that names none", hint))
    return Place(id_text(parse_id(letters, "incident")), int(number) if colon else None)


async def verbs_at(runtime: Runtime, aggregate: Aggregate, number: int | None) -> list[str]:
    """The verbs that trying again would run, and the one they are part of."""
    if aggregate.kind == RUNBOOK:
        steps = enumerate(aggregate.state.steps, 1)
        return list(dict.fromkeys(step.verb for at, step in steps if number in (None, at)))
    if aggregate.kind == LIFECYCLE:
        return list(dict.fromkeys(task.verb for task in aggregate.state.tasks if number in (None, 0, task.number)))
    carried = (await runtime.instances.loaded(aggregate)).deployed.verb
    nodes = aggregate.state.nodes.values()
    jobs = [node.job.type for node in nodes if node.job is not None and number in (None, node.number)]
    return list(dict.fromkeys(name for name in (carried, *jobs) if name))


async def stuck_at(perdure: Perdure, place: Place) -> Aggregate:
    """The call, runbook or instance of an incident."""
    aggregate = await perdure.runtime.kernel.read(parse_id(place.id), perdure._origin)
    if aggregate.kind not in (RUNBOOK, INSTANCE, LIFECYCLE):
        raise RejectedError(Rejection("not_found", "find", "incident", place.id, "there is no such thing"))
    return aggregate


async def retry_at(context: Context, aggregate: Aggregate, place: Place) -> str:
    """Try again what is stuck there, and tell the state it has then."""
    if aggregate.kind == INSTANCE:
        stuck = await retry_tokens(context, place.id, place.number)
        return str(stuck.state.status)
    if aggregate.kind == LIFECYCLE:
        return await _retry_lifecycle(context, place)
    if aggregate.state.course is not None and place.number is not None:
        return await _retry_step(context, place.id, place.number)
    return (await operator_interventions.retry(context, place.id)).state


async def _retry_step(context: Context, id: str, number: int) -> str:
    from perdure.app.operations import runbooks  # noqa: PLC0415

    return (await runbooks.retry_step.function(context, runbooks.RetryStep(id, str(number)))).state


async def _retry_lifecycle(context: Context, place: Place) -> str:
    """Ask again for every task that failed, or for one; an instance that is stuck looks at its facts again."""
    from perdure.app.operations import lifecycles  # noqa: PLC0415

    status = await context.perdure.lifecycle_operations.show(place.id)
    stuck = [each.task for each in status.incidents if place.number in (None, each.task)]
    if not stuck:
        raise RejectedError(Rejection("not_found", "find", "incident", place.id, "nothing is stuck there"))
    for number in stuck:
        if number:
            request = lifecycles.RetryLifecycleTask(place.id, number)
            status = await lifecycles.retry_lifecycle_task.function(context, request)
        else:
            status = await lifecycles.look_again.function(context, lifecycles.ShowLifecycle(place.id))
    return status.status
