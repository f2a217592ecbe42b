"""Routes: the subject of a notice, kept as a struct in its inbox row.

| notice | its route |
|---|---|
| thrown | `ThrownRoute`: what an instance threw, and under which number |
| instance_told | `IncidentRoute`: which incident was raised or resolved, and when |
| start_fired | `StartRoute`: the version and the start event whose timer fired |
| process_asked, escalation | `StepRoute`: the step that a process carries, or that escalates |
| process_over, escalation_over | `OverRoute`: the notice that began what has nothing left to do |
| fact_changed | `FactRoute`: the keys of the facts that changed, and the events that changed them |
| lifecycle_due | `RoundRoute`: the round in which a lifecycle instance has to look at its facts |
| resolution_asked, resolution_over | `TaskRoute`: the pending task whose resolution is asked for, or over |
| all others | none: the aggregate that gave the notice says it all |
"""

from __future__ import annotations

import msgspec

PREFIX = "perdure:"
PROCESS_SUFFIX = "/process"
OVER_SUFFIX = "/over"


class ThrownRoute(msgspec.Struct, frozen=True, tag="thrown", gc=False):
    """A message, a signal, a call, the cancelling of one, or an escalation, by its number in the instance."""

    kind: str
    number: int


class IncidentRoute(msgspec.Struct, frozen=True, tag="incident", gc=False):
    """An incident of a node that was raised or resolved at a time."""

    what: str
    number: int
    at: int


class StartRoute(msgspec.Struct, frozen=True, tag="start", gc=False):
    """A start event of a version of a process, by its index."""

    version: int
    index: int


class StepRoute(msgspec.Struct, frozen=True, tag="step", gc=False):
    """A step of a call or a runbook, by its number."""

    step: int


class OverRoute(msgspec.Struct, frozen=True, tag="over", gc=False):
    """The message id of the notice that began something; `place` is what a process knows its step as."""

    begun_by: str
    place: str = ""


class FactEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that happened to a subject, such as `client.created`; `fields` are words of ours, never data.

    `depth` counts lifecycles that began one another without a person or a timer in between.
    """

    name: str
    subject: str
    key: str
    at: int
    fields: dict[str, str] = {}
    depth: int = 0
    version: int = 0
    """Of a record: the version that the event made of it."""


class FactRoute(msgspec.Struct, frozen=True, tag="fact", omit_defaults=True):
    """Facts that changed, by their keys, and the events that changed them."""

    keys: tuple[str, ...]
    events: tuple[FactEvent, ...] = ()


class RoundRoute(msgspec.Struct, frozen=True, tag="round", gc=False):
    """A round of a lifecycle instance."""

    round: int


class TaskRoute(msgspec.Struct, frozen=True, tag="task", gc=False):
    """A pending task of a lifecycle instance, by its correlation id."""

    correlation_id: str


Route = ThrownRoute | IncidentRoute | StartRoute | StepRoute | OverRoute | FactRoute | RoundRoute | TaskRoute
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Route).decode


def route_body(route: Route | None) -> bytes | None:
    """A route as its inbox row keeps it."""
    return None if route is None else _encode(route)


def read_route(kind: str, message_id: str, body: bytes | None) -> Route | None:
    """The route of a notice in the inbox; of a row without one, the route that its id stands for."""
    return _decode(body) if body else route_of_id(kind, message_id)


def route_of_id(kind: str, message_id: str) -> Route | None:
    """The route of a notice that was written before rows had one, when the id was all that told it."""
    words = message_id.removeprefix(PREFIX).split("/")
    match kind:
        case "thrown":
            return ThrownRoute(words[-2], int(words[-1]))
        case "instance_told":
            return IncidentRoute(words[-3], int(words[-2]), int(words[-1]))
        case "start_fired":
            return StartRoute(int(words[-3]), int(words[-2]))
        case "process_asked" | "escalation":
            return StepRoute(int(words[0].partition(":")[2].partition(".")[0]))
        case "process_over":
            begun_by = message_id.removesuffix(OVER_SUFFIX)
            return OverRoute(begun_by, begun_by.removeprefix(PREFIX).removesuffix(PROCESS_SUFFIX))
        case "escalation_over":
            return OverRoute(message_id.removesuffix(OVER_SUFFIX))
        case _:
            return None
