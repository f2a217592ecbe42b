"""Operations on instances: list, start, show, suspend, move, migrate, mend and erase running processes."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, field

from perdure.app.access.redaction import redact
from perdure.app.instances.replay import DiagramView
from perdure.app.instances.views import InstanceView
from perdure.app.lists.cursors import Page
from perdure.app.lists.views import InstanceRow
from perdure.app.operations.fields import (
    After,
    Data,
    Flags,
    Goal,
    Id,
    Limit,
    Patience,
    Sequence,
    State,
    Whole,
    Word,
    waited,
)
from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.scopes import REDACTED, VERB_OF_INSTANCE, VERB_OF_PROCESS
from perdure.app.runbooks.confirmation import check_confirmed, plan_of_call
from perdure.engine import MigrationPlan

TAG = "instances"


class ListInstances(Request, frozen=True):
    """Which instances: of a process, in a state, or under a business key."""

    process: Word = ""
    state: State = ""
    business_key: Word = ""
    limit: Limit = 50
    after: After = None
    whole: Whole = False


class StartInstance(Request, frozen=True):
    """A process to begin, in its latest version unless one is named. `until` says how far it is to come first.

    One that carries a grave verb is confirmed as a call of that verb is.
    """

    process: str
    version: int | None = None
    data: Data = field(default_factory=dict)
    flags: Flags = field(default_factory=dict)
    start: str = ""
    business_key: str = ""
    until: Literal["committed", "rest", "end"] = "committed"
    timeout_seconds: float = 10.0
    confirm: str = ""
    phrase: str = ""


class ShowInstance(Request, frozen=True):
    """An instance, now or after a record of its journal, and how far it is to come before it is shown."""

    id: Id
    at: Sequence = None
    until: Goal = ""
    timeout_seconds: Patience = 10.0


class ShowDiagram(Request, frozen=True):
    """An instance, now or after a record of its journal, with its model or without."""

    id: Id
    at: Sequence = None
    xml: Annotated[bool, Meta(description="Without it only the marks are told.")] = True


class SuspendInstance(Request, frozen=True):
    """Why an instance is suspended; the journal keeps it."""

    id: Id
    reason: str = ""


class ResumeInstance(Request, frozen=True):
    """An instance to resume; `shift_timers` delays every timer by the time it was suspended."""

    id: Id
    shift_timers: bool = False


class ModifyInstance(Request, frozen=True):
    """Tokens to take away by their numbers, elements to put new ones before, flags to set by hand."""

    id: Id
    cancel: list[int] = field(default_factory=list)
    start: list[str] = field(default_factory=list)
    flags: Flags = field(default_factory=dict)
    reason: str = ""


class MigrateInstance(Request, frozen=True):
    """Another version to go on under; default: the latest. `mapping` is old element to new."""

    id: Id
    version: int | None = None
    process: str = ""
    mapping: dict[str, str] = field(default_factory=dict)
    flags: dict[str, str] = field(default_factory=dict)
    reason: str = ""
    dry_run: bool = False


class MigrateBack(Request, frozen=True):
    """Why an instance returns to the version before its last migration."""

    id: Id
    reason: str = ""
    dry_run: bool = False


class CancelInstance(Request, frozen=True):
    """Why an instance is stopped; `compensate` takes back its completed work."""

    id: Id
    reason: str = ""
    compensate: bool = False


class RetryInstance(Request, frozen=True):
    """The token to try again; default: every stuck token."""

    id: Id
    token: int | None = None
    flags: Flags = field(default_factory=dict)
    reason: str = ""


class ResolveInstance(Request, frozen=True):
    """How a stuck token ends: as if it had completed with these data and flags, or with the code of an error."""

    id: Id
    token: int | None = None
    data: Data | None = None
    flags: Flags = field(default_factory=dict)
    error: str = ""
    reason: str = ""


class EraseInstance(Request, frozen=True):
    """Why data are erased; the journal keeps it, and this act needs a reason."""

    id: Id
    reason: str


@operation("instance.list", Route("GET", "/instances"), tag=TAG, scope=REDACTED)
async def list_instances(context: Context, request: ListInstances) -> Page[InstanceRow] | Page[InstanceView]:
    """Instances without their data, newest first; of one process, in one state, or under one business key."""
    process, state, key, limit = request.process, request.state, request.business_key, request.limit
    if not request.whole:
        return await context.perdure.listing.instances(
            process=process, state=state, business_key=key, limit=limit, after=request.after
        )
    found = await context.perdure.instances.list(
        process=process, status=state, business_key=key, limit=limit, after=request.after or ""
    )
    return Page([redact(context.principal, each) for each in found], found[-1].id if len(found) == limit else None)


@operation(
    "instance.start",
    Route("POST", "/instances", 201, location="/api/instances/"),
    tag=TAG,
    scope=VERB_OF_PROCESS,
    repeat="domain",
)
async def start_instance(context: Context, request: StartInstance) -> InstanceView:
    """Begin a process; under one `Idempotency-Key` it begins once."""
    perdure = context.perdure
    if verb := await perdure.processes.verb(request.process, request.version):
        plan, hint = plan_of_call(perdure, verb, request.data), "A person can start it."
        await check_confirmed(plan, context.principal, request.confirm, request.phrase, else_hint=hint)
    return await perdure.instances.start(
        request.process,
        request.data,
        version=request.version,
        flags=request.flags,
        start=request.start,
        business_key=request.business_key,
        idempotency_key=context.idempotency_key,
        until=request.until,
        timeout_seconds=waited(request.timeout_seconds),
    )


@operation("instance.read", Route("GET", "/instances/{id}"), tag=TAG, scope=REDACTED)
async def show_instance(context: Context, request: ShowInstance) -> InstanceView:
    """An instance as it is, or as it was after a record of its journal.

    With `until` the answer comes once it has come so far, or the time is up. Its data are told to those whose key
    reaches the verb it carries.
    """
    instances = context.perdure.instances
    if request.until:
        await instances.wait(request.id, request.until, request.timeout_seconds)
    return await instances.get(request.id, at=request.at)


@operation("instance.read", Route("GET", "/instances/{id}/diagram"), tag=TAG, scope=REDACTED)
async def show_diagram(context: Context, request: ShowDiagram) -> DiagramView:
    """The model it runs with tokens, incidents and the way taken, now or after a record of its journal."""
    return await context.perdure.instances.diagram(request.id, at=request.at, has_xml=request.xml)


@operation("instance.suspend", Route("POST", "/instances/{id}/suspend"), tag=TAG, scope=VERB_OF_INSTANCE, guard=True)
async def suspend_instance(context: Context, request: SuspendInstance) -> InstanceView:
    """Let nothing happen to it, nor to the processes it calls, until it is resumed."""
    return await context.perdure.instances.suspend(request.id, request.reason)


@operation("instance.resume", Route("POST", "/instances/{id}/resume"), tag=TAG, scope=VERB_OF_INSTANCE, guard=True)
async def resume_instance(context: Context, request: ResumeInstance) -> InstanceView:
    """Go on, and the processes it calls; what fell due meanwhile fires now unless timers are shifted."""
    return await context.perdure.instances.resume(request.id, shift_timers=request.shift_timers)


@operation(
    "instance.modify",
    Route("POST", "/instances/{id}/modify", needs_body=True),
    tag=TAG,
    scope=VERB_OF_INSTANCE,
    guard=True,
)
async def modify_instance(context: Context, request: ModifyInstance) -> InstanceView:
    """Move its tokens and set its flags by hand, all in one commit."""
    return await context.perdure.instances.modify(
        request.id, cancel=request.cancel, start=request.start, flags=request.flags, reason=request.reason
    )


@operation("instance.migrate", Route("POST", "/instances/{id}/migrate"), tag=TAG, scope=VERB_OF_INSTANCE, guard=True)
async def migrate_instance(context: Context, request: MigrateInstance) -> MigrationPlan:
    """Go on under another version; a dry run only says what would happen."""
    if request.process:
        verb = await context.perdure.processes.verb(request.process, request.version)
        context.check("instance.migrate", verb)
    return await context.perdure.instances.migrate(
        request.id,
        version=request.version,
        process=request.process,
        mapping=request.mapping,
        flags=request.flags,
        reason=request.reason,
        dry_run=request.dry_run,
    )


@operation(
    "instance.migrate", Route("POST", "/instances/{id}/migrate-back"), tag=TAG, scope=VERB_OF_INSTANCE, guard=True
)
async def migrate_instance_back(context: Context, request: MigrateBack) -> MigrationPlan:
    """Undo the last migration by the inverse of its mapping."""
    return await context.perdure.instances.migrate_back(request.id, reason=request.reason, dry_run=request.dry_run)


@operation("instance.cancel", Route("POST", "/instances/{id}/cancel"), tag=TAG, scope=VERB_OF_INSTANCE, guard=True)
async def cancel_instance(context: Context, request: CancelInstance) -> InstanceView:
    """Stop it. What it did stays done unless it is to be compensated."""
    return await context.perdure.instances.cancel(request.id, request.reason, compensate=request.compensate)


@operation("instance.retry", Route("POST", "/instances/{id}/retry"), tag=TAG, scope=VERB_OF_INSTANCE, guard=True)
async def retry_instance(context: Context, request: RetryInstance) -> InstanceView:
    """Try again what an incident stopped."""
    return await context.perdure.instances.retry(request.id, request.token, flags=request.flags, reason=request.reason)


@operation(
    "instance.resolve",
    Route("POST", "/instances/{id}/resolve", needs_body=True),
    tag=TAG,
    scope=VERB_OF_INSTANCE,
    guard=True,
)
async def resolve_instance(context: Context, request: ResolveInstance) -> InstanceView:
    """End by hand what an incident stopped."""
    return await context.perdure.instances.resolve(
        request.id,
        request.token,
        data=request.data,
        flags=request.flags,
        error=request.error,
        reason=request.reason,
    )


@operation("instance.erase", Route("POST", "/instances/{id}/erase"), tag=TAG, scope=VERB_OF_INSTANCE, guard=True)
async def erase_instance(context: Context, request: EraseInstance) -> InstanceView:
    """Erase the data of an ended instance; its history stays and still verifies."""
    return await context.perdure.instances.erase(request.id, request.reason)
