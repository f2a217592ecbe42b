"""Instances: which processes run, how one is or was, its diagram, and acting on it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from litestar import Request, Response
from litestar.params import QueryParameter

from perdure.access.principal import Principal
from perdure.access.roles import check
from perdure.app import Perdure
from perdure.app.confirming import check_confirmed, plan_of_call
from perdure.app.instance_views import InstanceView
from perdure.app.listing_views import InstanceRow
from perdure.app.paging import Page
from perdure.app.retracing import DiagramView
from perdure.app.seeing import seen
from perdure.app.views import EventView
from perdure.engine import MigrationPlan
from perdure.surfaces.http.bodies import NO_REASON, Reason, Why
from perdure.surfaces.http.following import journal_answer
from perdure.surfaces.http.guarding import idempotency_key
from perdure.surfaces.http.making import acting, reading, streaming
from perdure.surfaces.http.parameters import After, Id, InState, Limit, Sequence, Whole, Word
from perdure.surfaces.http.patience import Goal, Patience, patiently
from perdure.surfaces.http.versions import tagged, unchanged

TAGS = ("instances",)
MAX_WAIT_SECONDS = 60.0
AnyRequest = Request[Any, Any, Any]
Flags = dict[str, str | bool | int]
HasXml = Annotated[bool, QueryParameter(name="xml", description="Without it only the marks are told.")]


class StartInstance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Begin a process, in its latest version unless one is named. `until` says how far it is to come first.

    One that carries a grave verb is confirmed as a call of that verb is.
    """

    process: str
    version: int | None = None
    data: dict[str, Any] = {}
    flags: Flags = {}
    start: str = ""
    business_key: str = ""
    until: Literal["committed", "rest", "end"] = "committed"
    timeout_seconds: float = 10.0
    confirm: str = ""
    phrase: str = ""


class ResumeInstance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Go on; with `shift_timers` every timer is later by the time it was suspended."""

    shift_timers: bool = False


class ModifyInstance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Take tokens away by their numbers, put new ones before elements, set flags by hand."""

    cancel: list[int] = []
    start: list[str] = []
    flags: Flags = {}
    reason: str = ""


class MigrateInstance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Go on under another version, the latest unless one is named. `mapping` is old element to new."""

    version: int | None = None
    process: str = ""
    mapping: dict[str, str] = {}
    flags: dict[str, str] = {}
    reason: str = ""
    dry_run: bool = False


class MigrateBack(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """To the version before the last migration."""

    reason: str = ""
    dry_run: bool = False


class CancelInstance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Stop it, and take back what was done where `compensate` says so."""

    reason: str = ""
    compensate: bool = False


class RetryInstance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Try again what is stuck: one token, or all of them."""

    token: int | None = None
    flags: Flags = {}
    reason: str = ""


class ResolveInstance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """End by hand what is stuck: as if it had completed with these, or with the code of a business error."""

    token: int | None = None
    data: dict[str, Any] | None = None
    flags: Flags = {}
    error: str = ""
    reason: str = ""


NO_RESUME, NO_CANCEL, NO_RETRY = ResumeInstance(), CancelInstance(), RetryInstance()
NO_MIGRATION, NO_BACK = MigrateInstance(), MigrateBack()


@reading("/instances", "instance.list", tags=TAGS)
async def list_instances(
    perdure: Perdure, principal: Principal, process: Word = "", in_state: InState = "", business_key: Word = "",
    limit: Limit = 50, after: After = None, whole: Whole = False,
) -> Page[InstanceRow] | Page[InstanceView]:  # fmt: skip
    """Instances without their data, newest first; of one process, in one state, or under one business key."""
    if whole:
        found = await perdure.instances.list(
            process=process, status=in_state, business_key=business_key, limit=limit, after=after or ""
        )  # fmt: skip
        return Page([seen(principal, each) for each in found], found[-1].id if len(found) == limit else None)
    return await perdure.listing.instances(
        process=process, state=in_state, business_key=business_key, limit=limit, after=after
    )


@acting("/instances", "instance.start", repeats="domain", status=201, tags=TAGS)
async def start_instance(
    perdure: Perdure, principal: Principal, request: AnyRequest, data: StartInstance
) -> Response[InstanceView]:
    """Begin a process; under one `Idempotency-Key` it begins once."""
    verb = await perdure.processes.verb(data.process, data.version)
    check(principal, "instance.start", verb=verb)
    if verb:
        plan, hint = plan_of_call(perdure, verb, data.data), "A person can start it."
        await check_confirmed(plan, principal, data.confirm, data.phrase, else_hint=hint)
    view = await perdure.instances.start(
        data.process, data.data, version=data.version, flags=data.flags, start=data.start,
        business_key=data.business_key, idempotency_key=idempotency_key(request), until=data.until,
        timeout_seconds=min(max(data.timeout_seconds, 0.0), MAX_WAIT_SECONDS),
    )  # fmt: skip
    return tagged(view, 201, location=f"/api/instances/{view.id}")


@reading("/instances/{id:str}", "instance.read", tags=TAGS)
async def show_instance(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, at: Sequence = None, until: Goal = "",
    timeout_seconds: Patience = 10.0,
) -> Response[InstanceView]:  # fmt: skip
    """An instance as it is, or as it was after a record of its journal.

    With `until` the answer comes once it has come so far, or the time is up. Its data are told to those whose key
    reaches the verb it carries.
    """
    if until:
        await patiently(request, principal, perdure.instances.wait(id, until, timeout_seconds))
    return tagged(seen(principal, await perdure.instances.get(id, at=at)))


@reading("/instances/{id:str}/diagram", "instance.read", tags=TAGS)
async def show_diagram(perdure: Perdure, id: Id, at: Sequence = None, has_xml: HasXml = True) -> DiagramView:
    """The model it runs with tokens, incidents and the way taken, now or after a record of its journal."""
    return await perdure.instances.diagram(id, at=at, has_xml=has_xml)


@streaming("/instances/{id:str}/events", "instance.read", Page[EventView], tags=TAGS)
async def follow_instance(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, after: After = None, limit: Limit = 50
) -> Response[Any]:
    """The journal of an instance, oldest first; as `text/event-stream` with what is still to come."""
    await _allowed(perdure, principal, "instance.read", id)
    return await journal_answer(
        request, perdure, principal, id, lambda record: perdure.instances.events(id, after=record), after, limit
    )


@acting("/instances/{id:str}/suspend", "instance.suspend", tags=TAGS)
async def suspend_instance(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, data: Reason = NO_REASON
) -> Response[InstanceView]:
    """Let nothing happen to it, nor to the processes it calls, until it is resumed."""
    await _allowed(perdure, principal, "instance.suspend", id)
    async with unchanged(request, perdure, id):
        return _answered(principal, await perdure.instances.suspend(id, data.reason))


@acting("/instances/{id:str}/resume", "instance.resume", tags=TAGS)
async def resume_instance(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, data: ResumeInstance = NO_RESUME
) -> Response[InstanceView]:
    """Go on, and the processes it calls; what fell due meanwhile fires now unless timers are shifted."""
    await _allowed(perdure, principal, "instance.resume", id)
    async with unchanged(request, perdure, id):
        return _answered(principal, await perdure.instances.resume(id, shift_timers=data.shift_timers))


@acting("/instances/{id:str}/modify", "instance.modify", tags=TAGS)
async def modify_instance(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, data: ModifyInstance
) -> Response[InstanceView]:
    """Move its tokens and set its flags by hand, all in one commit."""
    await _allowed(perdure, principal, "instance.modify", id)
    async with unchanged(request, perdure, id):
        view = await perdure.instances.modify(
            id, cancel=data.cancel, start=data.start, flags=data.flags, reason=data.reason
        )
        return _answered(principal, view)


@acting("/instances/{id:str}/migrate", "instance.migrate", tags=TAGS)
async def migrate_instance(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, data: MigrateInstance = NO_MIGRATION
) -> MigrationPlan:
    """Go on under another version; a dry run only says what would happen."""
    await _allowed(perdure, principal, "instance.migrate", id)
    if data.process:
        check(principal, "instance.migrate", verb=await perdure.processes.verb(data.process, data.version))
    async with unchanged(request, perdure, id):
        return await perdure.instances.migrate(
            id, version=data.version, process=data.process, mapping=data.mapping, flags=data.flags,
            reason=data.reason, dry_run=data.dry_run,
        )  # fmt: skip


@acting("/instances/{id:str}/migrate-back", "instance.migrate", tags=TAGS)
async def migrate_instance_back(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, data: MigrateBack = NO_BACK
) -> MigrationPlan:
    """Undo the last migration by the inverse of its mapping."""
    await _allowed(perdure, principal, "instance.migrate", id)
    async with unchanged(request, perdure, id):
        return await perdure.instances.migrate_back(id, reason=data.reason, dry_run=data.dry_run)


@acting("/instances/{id:str}/cancel", "instance.cancel", tags=TAGS)
async def cancel_instance(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, data: CancelInstance = NO_CANCEL
) -> Response[InstanceView]:
    """Stop it. What it did stays done unless it is to be compensated."""
    await _allowed(perdure, principal, "instance.cancel", id)
    async with unchanged(request, perdure, id):
        return _answered(principal, await perdure.instances.cancel(id, data.reason, compensate=data.compensate))


@acting("/instances/{id:str}/retry", "instance.retry", tags=TAGS)
async def retry_instance(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, data: RetryInstance = NO_RETRY
) -> Response[InstanceView]:
    """Try again what an incident stopped."""
    await _allowed(perdure, principal, "instance.retry", id)
    async with unchanged(request, perdure, id):
        view = await perdure.instances.retry(id, data.token, flags=data.flags, reason=data.reason)
        return _answered(principal, view)


@acting("/instances/{id:str}/resolve", "instance.resolve", tags=TAGS)
async def resolve_instance(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, data: ResolveInstance
) -> Response[InstanceView]:
    """End by hand what an incident stopped."""
    await _allowed(perdure, principal, "instance.resolve", id)
    async with unchanged(request, perdure, id):
        view = await perdure.instances.resolve(
            id, data.token, data=data.data, flags=data.flags, error=data.error, reason=data.reason
        )
        return _answered(principal, view)


@acting("/instances/{id:str}/erase", "instance.erase", tags=TAGS)
async def erase_instance(
    perdure: Perdure, principal: Principal, request: AnyRequest, id: Id, data: Why
) -> Response[InstanceView]:
    """Erase the data of an ended instance; its history stays and still verifies."""
    await _allowed(perdure, principal, "instance.erase", id)
    async with unchanged(request, perdure, id):
        return _answered(principal, await perdure.instances.erase(id, data.reason))


async def _allowed(perdure: Perdure, principal: Principal, operation: str, id: str) -> None:
    check(principal, operation, verb=await perdure.instances.verb(id))


def _answered(principal: Principal, view: InstanceView) -> Response[InstanceView]:
    return tagged(seen(principal, view))


ROUTES: tuple[Any, ...] = (
    list_instances, start_instance, show_instance, show_diagram, follow_instance, suspend_instance,
    resume_instance, modify_instance, migrate_instance, migrate_instance_back, cancel_instance, retry_instance,
    resolve_instance, erase_instance,
)  # fmt: skip
