"""Incidents as operators see them: why something is stuck, what can be done about it, and doing it for many at once."""

from __future__ import annotations

import msgspec

from perdure.app.lists.views import IncidentItem
from perdure.app.perdure import Perdure
from perdure.bpmn.machine.identity import INSTANCE
from perdure.errors import RejectedError, Rejection
from perdure.kernel.kernel import Aggregate
from perdure.runbooks.executor.call_executor import KIND as RUNBOOK
from perdure.sources import id_text, parse_id

CALL = "call"
CAUSES = {
    "attempt.interrupted": "The work was cut off and nobody knows whether it was done.",
    "attempt.unrecorded": "What the work came to could not be kept.",
    "definition.missing": "Its verb is not loaded anywhere any more.",
    "call_failed": "A process that it called did not complete.",
}
"""Why, in an operator's words; of others the incident says it itself."""


class ActionView(msgspec.Struct, frozen=True):
    """Something that applies: what it is called, the operation it asks for, and where it is posted."""

    act: str
    title: str
    operation: str
    path: str


class StuckView(IncidentItem, frozen=True):
    """An incident with its cause and the actions that apply to it."""

    cause: str = ""
    verbs: list[str] = msgspec.field(default_factory=list)
    actions: list[ActionView] = msgspec.field(default_factory=list)


class Place(msgspec.Struct, frozen=True):
    """Where something is stuck. Without a number it is everything that is stuck in it."""

    id: str
    number: int | None = None


class Mended(msgspec.Struct, frozen=True):
    """What became of one incident that was tried again."""

    id: str
    state: str


def actions_of(kind: str, id: str, place: int) -> list[ActionView]:
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


async def stuck_view(perdure: Perdure, item: IncidentItem) -> StuckView:
    """An incident with its cause and what can be done about it; nothing can about what is set aside."""
    told = {name: getattr(item, name) for name in item.__struct_fields__}
    if not item.kind:
        return StuckView(**told, cause=item.text)
    place = Place(item.id, item.place)
    aggregate = await _read(perdure, place)
    if aggregate.kind == RUNBOOK and aggregate.state.course is None:
        told["kind"] = CALL
    cause = CAUSES.get(item.code, "") or item.text
    verbs = await _verbs(perdure, aggregate, place)
    can = perdure.runtime.engine.capabilities
    actions = [each for each in actions_of(told["kind"], item.id, item.place) if getattr(can, each.act, True)]
    return StuckView(**told, cause=cause, verbs=verbs, actions=actions)


def place_of_incident(text: str) -> Place:
    """`<id>` or `<id>:<number>`."""
    letters, colon, number = text.partition(":")
    if colon and not (number.isascii() and number.isdigit() and len(number) < 20):
        hint = "An incident is named `<id>` or `<id>:<number of the step or token>`."
        raise RejectedError(Rejection("not_found", "find", "incident", text[:80], "that names none", hint))
    return Place(id_text(parse_id(letters, "incident")), int(number) if colon else None)


async def verbs_at(perdure: Perdure, place: Place) -> list[str]:
    """The verbs that trying again would run, and the one they are part of."""
    return await _verbs(perdure, await _read(perdure, place), place)


async def _verbs(perdure: Perdure, aggregate: Aggregate, place: Place) -> list[str]:
    if aggregate.kind == RUNBOOK:
        steps = enumerate(aggregate.state.steps, 1)
        return list(dict.fromkeys(step.verb for number, step in steps if place.number in (None, number)))
    carried = (await perdure.runtime.instances.loaded(aggregate)).deployed.verb
    nodes = aggregate.state.nodes.values()
    jobs = [node.job.type for node in nodes if node.job is not None and place.number in (None, node.number)]
    return list(dict.fromkeys(name for name in (carried, *jobs) if name))


async def retry_at(perdure: Perdure, place: Place) -> Mended:
    """Try again what is stuck there."""
    aggregate = await _read(perdure, place)
    if aggregate.kind == INSTANCE:
        instance = await perdure.instances.retry(place.id, place.number)
        return Mended(place.id, instance.state)
    if aggregate.state.course is not None and place.number is not None:
        runbook = await perdure.runbooks.retry(place.id, place.number)
        return Mended(place.id, runbook.state)
    view = await perdure.retry(place.id)
    return Mended(place.id, view.state)


async def _read(perdure: Perdure, place: Place) -> Aggregate:
    aggregate = await perdure.runtime.kernel.read(parse_id(place.id), perdure._origin)
    if aggregate.kind not in (RUNBOOK, INSTANCE):
        raise RejectedError(Rejection("not_found", "find", "incident", place.id, "there is no such thing"))
    return aggregate
