"""Verbs: what can be asked, and asking it."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import Request, Response

from perdure.access.principal import Principal
from perdure.access.roles import check
from perdure.app import Perdure
from perdure.app.composing import Composition
from perdure.app.confirming import plan_of_call
from perdure.app.views import CallView
from perdure.contracts import tier_rank
from perdure.surfaces.http.confirming import GRAVE, check_agreed
from perdure.surfaces.http.guarding import idempotency_key
from perdure.surfaces.http.making import acting, reading
from perdure.surfaces.http.parameters import Name, Query, Version
from perdure.surfaces.http.versions import tagged
from perdure.verbs import Verb

TAGS = ("verbs",)
MAX_WAIT_SECONDS = 60.0


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


class VerbView(msgspec.Struct, frozen=True):
    """Everything declared about one version of a verb. `process` carries it, where it is durable and has one."""

    name: str
    version: int
    versions: list[int]
    kind: str
    description: str
    consequence: str
    domain: str
    sentences: dict[str, Any]
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    execution: dict[str, Any]
    index: list[str]
    writes: list[str]
    process: str
    metadata: dict[str, Any]
    content_hash: str
    contract: dict[str, Any] | None = None
    """What it promised to write and to raise at most; nothing promised is None."""


class CallRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A verb's arguments. `wait` returns only when the call has ended or the time is up."""

    args: dict[str, Any] = {}
    version: int | None = None
    wait: bool | None = None
    timeout_seconds: float | None = None
    confirm: str = ""
    phrase: str = ""


@reading("/verbs", "verb.list", tags=TAGS)
async def list_verbs(perdure: Perdure, q: Query = "") -> Verbs:
    """Every verb, or those whose name or description has the words."""
    words = q.lower().split()
    found = [verb for verb in perdure.catalogue if all(word in _searched(verb) for word in words)]
    return Verbs([_row(verb) for verb in sorted(found, key=lambda verb: verb.name)])


@reading("/verbs/{name:str}", "verb.read", tags=TAGS)
async def show_verb(perdure: Perdure, name: Name, version: Version = None) -> VerbView:
    """One verb, in its newest version unless another is named."""
    verb = perdure.catalogue.get(name, version)
    told: dict[str, Any] = msgspec.to_builtins(verb.definition)
    return VerbView(
        verb.name, verb.version, perdure.catalogue.versions(verb.name), verb.definition.execution.kind,
        verb.definition.description, verb.definition.consequence, verb.definition.domain, told["sentences"],
        told["input_schema"], told["output_schema"], told["execution"], list(told["index"]), list(told["writes"]),
        verb.definition.execution.process or "", told["metadata"], verb.content_hash, told["contract"],
    )  # fmt: skip


@acting("/verbs/{name:str}/calls", "verb.call", repeats="domain", status=201, tags=TAGS)
async def call_verb(
    perdure: Perdure, principal: Principal, request: Request[Any, Any, Any], name: Name, data: CallRequest
) -> Response[CallView]:
    """Ask for a verb. Answers when it has completed, failed or parked, and all of it is durable."""
    verb = perdure.catalogue.get(name, data.version)
    check(principal, "verb.call", verb=verb.name)
    if tier_rank(verb.definition.consequence) >= GRAVE:
        plan = plan_of_call(perdure, verb.name, data.args, data.version)
        what = Composition(calls=[{"verb": verb.name, "args": data.args}])
        await check_agreed(perdure, plan, principal, data.confirm, data.phrase, what=what)
    async with request.app.state.turnstile.turn():
        view = await perdure.call(
            name, data.args, version=data.version, idempotency_key=idempotency_key(request), wait=data.wait,
            timeout_seconds=waited(data.timeout_seconds),
        )  # fmt: skip
    return tagged(view, 201, location=f"/api/calls/{view.id}")


def waited(seconds: float | None) -> float:
    """How long a request may wait for an end: never so long that those between give up."""
    return MAX_WAIT_SECONDS if seconds is None else min(max(seconds, 0.0), MAX_WAIT_SECONDS)


def _searched(verb: Verb) -> str:
    return f"{verb.name} {verb.definition.description}".lower()


def _row(verb: Verb) -> VerbRow:
    told = verb.definition
    return VerbRow(
        verb.name, verb.version, told.execution.kind, told.description, told.consequence, list(told.sentences.step),
        told.domain,
    )  # fmt: skip


ROUTES: tuple[Any, ...] = (list_verbs, show_verb, call_verb)
