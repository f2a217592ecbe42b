"""Verbs: what can be asked, and asking it."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import Request, Response

from perdure.access.principal import Principal
from perdure.access.roles import check
from perdure.app import Perdure
from perdure.app.views import CallView
from perdure.surfaces.http.guarding import idempotency_key
from perdure.surfaces.http.making import acting, reading
from perdure.verbs import Verb

TAGS = ("verbs",)


class VerbRow(msgspec.Struct, frozen=True):
    """A verb in a list."""

    name: str
    version: int
    kind: str
    description: str
    consequence: str
    sentences: list[str]
    domain: str = ""


class Verbs(msgspec.Struct, frozen=True):
    """Verbs by name; there are never so many that they need pages."""

    items: list[VerbRow]
    next: str | None = None


class CallRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A verb's arguments. `wait` returns only when the call has ended or the time is up."""

    args: dict[str, Any] = {}
    version: int | None = None
    wait: bool | None = None
    timeout_seconds: float | None = None
    confirm: str = ""
    phrase: str = ""


@reading("/verbs", "verb.list", tags=TAGS)
async def list_verbs(perdure: Perdure, q: str = "") -> Verbs:
    """Every verb, or those whose name or description has the words."""
    words = q.lower().split()
    found = [verb for verb in perdure.catalogue if all(word in _searched(verb) for word in words)]
    return Verbs([_row(verb) for verb in sorted(found, key=lambda verb: verb.name)])


@acting("/verbs/{name:str}/calls", "verb.call", repeats="domain", status=201, tags=TAGS)
async def call_verb(
    perdure: Perdure, principal: Principal, request: Request[Any, Any, Any], name: str, data: CallRequest
) -> Response[CallView]:
    """Ask for a verb. Answers when it has completed, failed or parked, and all of it is durable."""
    check(principal, "verb.call", verb=name)
    view = await perdure.call(
        name, data.args, version=data.version, idempotency_key=idempotency_key(request), wait=data.wait,
        timeout_seconds=data.timeout_seconds,
    )  # fmt: skip
    return Response(view, headers={"Location": f"/api/calls/{view.id}", "ETag": f'"{view.sequence}"'})


def _searched(verb: Verb) -> str:
    return f"{verb.name} {verb.definition.description}".lower()


def _row(verb: Verb) -> VerbRow:
    told = verb.definition
    return VerbRow(
        verb.name, verb.version, told.execution.kind, told.description, told.consequence, list(told.sentences.step)
    )  # fmt: skip


ROUTES: tuple[Any, ...] = (list_verbs, call_verb)
