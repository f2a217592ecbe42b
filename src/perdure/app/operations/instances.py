"""Operations on instances: list, start, show, suspend, move, migrate, mend and erase running processes."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Literal, get_args

from msgspec import Meta, field
from msgspec.structs import replace

from perdure.app.erasure import Erasure
from perdure.app.instances.incident_retry import confirm_graver, retry_tokens, stuck_tokens
from perdure.app.instances.manual_changes import confirm_manual_change
from perdure.app.instances.replay import DiagramView, marks_view, replay_instance
from perdure.app.instances.views import InstanceView, incidents_of
from perdure.app.lists.cursors import Page, check_state
from perdure.app.lists.list_rows import InstanceRow
from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.request_fields import (
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
from perdure.app.operations.verb_scopes import REDACTED, VERBS_OF_INSTANCE, VERBS_OF_VERSION
from perdure.app.runbooks.confirmation import check_confirmed, plan_of_starts, use_confirmation
from perdure.bpmn.machine.aggregate_ids import INDEX, INSTANCE
from perdure.bpmn.machine.state import ENDED, Status
from perdure.engine import MigrationPlan, MovePlan
from perdure.errors import QuarantinedError, RejectedError, Rejection
from perdure.sources import id_text, parse_id
from perdure.store.lists import AFTER_IDS
from perdure.verb_contract import tier_rank

TAG = "instances"
CANCELLED = ("cancelled", "compensated")
"""How an instance ends that was cancelled."""


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

    One that can reach a grave verb is confirmed as a call of that verb is.
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


class MoveInstance(Request, frozen=True):
    """An instance and the engine that is to carry it; `shadow` replays its journal there first."""

    id: Id
    engine: Word
    reason: str = ""
    dry_run: bool = False
    shadow: bool = False


class ModifyInstance(Request, frozen=True):
    """Tokens to take away by their numbers, elements to put new ones before, flags and data to set by hand.

    Where the process can reach something grave, what is put or set is confirmed as its start is.
    """

    id: Id
    cancel: list[int] = field(default_factory=list)
    start: list[str] = field(default_factory=list)
    flags: Flags = field(default_factory=dict)
    data: Data = field(default_factory=dict)
    reason: str = ""
    confirm: str = ""
    phrase: str = ""


class MigrateInstance(Request, frozen=True):
    """Another version to go on under; default: the latest. `mapping` is old element to new."""

    id: Id
    version: int | None = None
    process: str = ""
    mapping: dict[str, str] = field(default_factory=dict)
    flags: dict[str, str] = field(default_factory=dict)
    reason: str = ""
    dry_run: bool = False
    confirm: str = ""
    phrase: str = ""


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
    """The token to try again; default: every stuck token.

    A call of a process that has become graver than the start of the instance is confirmed as a start of it is.
    """

    id: Id
    token: int | None = None
    flags: Flags = field(default_factory=dict)
    reason: str = ""
    confirm: str = ""
    phrase: str = ""


class ResolveInstance(Request, frozen=True):
    """How a stuck token ends: as if it had completed with these data and flags, or with the code of an error.

    The end of a call of a process that has become graver is confirmed as its retry is.
    """

    id: Id
    token: int | None = None
    data: Data | None = None
    flags: Flags = field(default_factory=dict)
    error: str = ""
    reason: str = ""
    confirm: str = ""
    phrase: str = ""


class EraseInstance(Request, frozen=True):
    """Why data are erased; the journal keeps it, and this act needs a reason."""

    id: Id
    reason: str


@operation("instance.list", Route("GET", "/instances"), tag=TAG, scope=REDACTED)
async def list_instances(context: Context, request: ListInstances) -> Page[InstanceRow] | Page[InstanceView]:
    """Instances without their data, newest first; of one process, in one state, or under one business key."""
    if not request.whole:
        return await context.lists.instances(request)
    if context.is_narrow:
        return await _reached_instances(context, request)
    process, state, key, limit = request.process, request.state, request.business_key, request.limit
    check_state(state, get_args(Status))
    await context.runtime.store.set_aside.refresh()
    lists, tenant = context.runtime.store.lists, context.origin.tenant
    before = parse_id(request.after, "instance") if request.after else AFTER_IDS
    if process or key:
        field, value = ("business_key", key) if key else ("process", process)
        rows = await lists.with_value(tenant, INDEX, field, value, before, limit)
    else:
        rows = await lists.instances(tenant, INSTANCE, state, before, limit)
    wanted = [row.id for row in rows if state in ("", row.status)]
    shown = [await context.views.shown(each, context.origin, has_data=False) for each in wanted]
    found = [each for each in shown if process in ("", each.process) or not each.process]
    return Page(found, found[-1].id if len(found) == limit else None)


async def _reached_instances(context: Context, request: ListInstances) -> Page[InstanceView]:
    """The instances whose data come from verbs that the key reaches, found as rows of the list are."""
    after = context.lists.instance_place(request) if request.after else None
    page = await context.lists.instances(replace(request, after=after))
    found = [await context.views.shown(parse_id(row.id), context.origin, has_data=False) for row in page.items]
    return Page(found, found[-1].id if found and page.next is not None else None)


@operation(
    "instance.start",
    Route("POST", "/instances", 201, location="/api/instances/"),
    tag=TAG,
    scope=VERBS_OF_VERSION,
    repeat="domain",
)
async def start_instance(context: Context, request: StartInstance) -> InstanceView:
    """Begin a process; under one `Idempotency-Key` it begins once.

    A process that can reach something grave, whichever verb it carries, is confirmed first.
    """
    perdure = context.perdure
    begun = await perdure.processes.start_of(request.process, request.version)
    plan, hint = plan_of_starts(perdure, [begun], request.data), "A person can start it."
    await check_confirmed(plan, context.principal, request.confirm, request.phrase, else_hint=hint)
    await use_confirmation(perdure, context.principal, plan, request.confirm, context.idempotency_key)
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
    reaches every verb that its process can reach and every verb of whatever began it.
    """
    instances, views, id = context.runtime.instances, context.views, parse_id(request.id, "instance")
    if request.until:
        with suppress(QuarantinedError):  # it is shown as it is
            aggregate = await instances.read(id, context.origin)
            await instances.followers.follow(aggregate, request.until, request.timeout_seconds)
    if request.at is not None:
        return await views.as_of(await instances.read(id, context.origin), request.at)
    await context.runtime.store.set_aside.refresh()
    return await views.shown(id, context.origin)


@operation("instance.read", Route("GET", "/instances/{id}/diagram"), tag=TAG, scope=VERBS_OF_INSTANCE, computes=True)
async def show_diagram(context: Context, request: ShowDiagram) -> DiagramView:
    """The model it runs with tokens, incidents and the way taken, now or after a record of its journal."""
    runtime, origin, xml = context.runtime, context.origin, ""
    now = await runtime.instances.read(request.id, origin)
    then = await replay_instance(runtime, now, request.at)
    state, aggregate = then.aggregate.state, then.aggregate
    if request.xml:
        from perdure.app.processes.views import model_of  # noqa: PLC0415  writes and draws models
        from perdure.bpmn.xml import write_model  # noqa: PLC0415  the same

        definition = await runtime.instances.loaded(aggregate)
        diagram = await runtime.definitions.diagram(definition.deployed.process.id, definition.hash, origin)
        xml = await runtime.computations.run(origin.tenant, lambda: write_model(model_of(definition.deployed, diagram)))
    return DiagramView(
        id_text(now.id),
        state.process,
        state.process_version,
        state.status,
        aggregate.version,
        now.version,
        marks_view(state, then.trail, incidents_of(state)),
        xml,
    )


@operation("instance.suspend", Route("POST", "/instances/{id}/suspend"), tag=TAG, scope=VERBS_OF_INSTANCE, guard=True)
async def suspend_instance(context: Context, request: SuspendInstance) -> InstanceView:
    """Let nothing happen to it, nor to the processes it calls, until it is resumed."""
    engine = context.runtime.engine
    (await engine.carrier(request.id)).capabilities.require("suspend", "suspend", request.id)
    return await context.views.instance(await engine.suspend(request.id, context.origin, reason=request.reason))


@operation("instance.resume", Route("POST", "/instances/{id}/resume"), tag=TAG, scope=VERBS_OF_INSTANCE, guard=True)
async def resume_instance(context: Context, request: ResumeInstance) -> InstanceView:
    """Go on, and the processes it calls; what fell due meanwhile fires now unless timers are shifted."""
    engine = context.runtime.engine
    (await engine.carrier(request.id)).capabilities.require("suspend", "resume", request.id)
    found = await engine.resume(request.id, context.origin, shift_timers=request.shift_timers)
    return await context.views.instance(found)


@operation(
    "instance.modify",
    Route("POST", "/instances/{id}/modify", needs_body=True),
    tag=TAG,
    scope=VERBS_OF_INSTANCE,
    guard=True,
)
async def modify_instance(context: Context, request: ModifyInstance) -> InstanceView:
    """Move its tokens, set its flags and its data by hand, all in one commit."""
    engine, cancel, start = context.runtime.engine, request.cancel, request.start
    (await engine.carrier(request.id)).capabilities.require("modify", "modify", request.id)
    aggregate = await context.runtime.instances.read(request.id, context.origin)
    change = {"start": start, "flags": request.flags, "data": request.data}
    await confirm_manual_change(context, aggregate, change, request.confirm, request.phrase)
    found = await engine.modify(
        request.id, context.origin, cancel=cancel, start=start, flags=request.flags, data=request.data,
        reason=request.reason,
    )  # fmt: skip
    return await context.views.instance(found)


@operation("instance.move", Route("POST", "/instances/{id}/move"), tag=TAG, scope=VERBS_OF_INSTANCE, guard=True)
async def move_instance(context: Context, request: MoveInstance) -> MovePlan:
    """Let another engine carry an instance that waits; its journal keeps a certificate of what was moved."""
    return await context.runtime.engine.move(
        request.id, context.origin, request.engine, reason=request.reason, dry_run=request.dry_run,
        shadow=request.shadow,
    )  # fmt: skip


@operation("instance.migrate", Route("POST", "/instances/{id}/migrate"), tag=TAG, scope=VERBS_OF_INSTANCE, guard=True)
async def migrate_instance(context: Context, request: MigrateInstance) -> MigrationPlan:
    """Go on under another version; a dry run only says what would happen."""
    engine = context.runtime.engine
    (await engine.carrier(request.id)).capabilities.require("migrate", "migrate", request.id)
    if context.is_narrow:
        process = request.process or (await context.perdure.instances.get(request.id)).process
        context.check_all("instance.migrate", await context.perdure.processes.verbs(process, request.version))
    if not request.dry_run and not context.is_owner:
        await _check_graver(context, request)
    return await engine.migrate(
        request.id,
        context.origin,
        version=request.version,
        process=request.process,
        mapping=request.mapping,
        flags=request.flags,
        reason=request.reason,
        dry_run=request.dry_run,
    )


async def _check_graver(context: Context, request: MigrateInstance) -> None:
    """Refuse to go on unconfirmed under a version that reaches something graver than the one it began under."""
    perdure = context.perdure
    now = await perdure.instances.get(request.id)
    before = await perdure.processes.start_of(now.process, now.version)
    after = await perdure.processes.start_of(request.process or now.process, request.version)
    if tier_rank(after.consequence.tier) > tier_rank(before.consequence.tier):
        plan = plan_of_starts(perdure, [after], {"instance": request.id})
        hint = "A person can migrate it."
        await check_confirmed(plan, context.principal, request.confirm, request.phrase, else_hint=hint)
        await use_confirmation(perdure, context.principal, plan, request.confirm, context.idempotency_key)


@operation(
    "instance.migrate", Route("POST", "/instances/{id}/migrate-back"), tag=TAG, scope=VERBS_OF_INSTANCE, guard=True
)
async def migrate_instance_back(context: Context, request: MigrateBack) -> MigrationPlan:
    """Undo the last migration by the inverse of its mapping."""
    engine = context.runtime.engine
    (await engine.carrier(request.id)).capabilities.require("migrate", "migrate back", request.id)
    if context.is_narrow:
        plan = await engine.migrate_back(request.id, context.origin, reason=request.reason, dry_run=True)
        context.check_all("instance.migrate", await context.perdure.processes.verbs(plan.process, plan.version))
    return await engine.migrate_back(request.id, context.origin, reason=request.reason, dry_run=request.dry_run)


@operation("instance.cancel", Route("POST", "/instances/{id}/cancel"), tag=TAG, scope=VERBS_OF_INSTANCE, guard=True)
async def cancel_instance(context: Context, request: CancelInstance) -> InstanceView:
    """Stop it. What it did stays done unless it is to be compensated."""
    engine, compensate = context.runtime.engine, request.compensate
    if compensate:
        (await engine.carrier(request.id)).capabilities.require("compensate", "cancel", request.id)
    found = await engine.cancel(request.id, context.origin, reason=request.reason, compensate=compensate)
    if found.state.status in ENDED and found.state.status not in CANCELLED:
        fact = f"it is {found.state.status}"
        raise RejectedError(Rejection("wrong_state", "cancel", "instance", id_text(found.id), fact))
    return await context.views.instance(found)


@operation("instance.retry", Route("POST", "/instances/{id}/retry"), tag=TAG, scope=VERBS_OF_INSTANCE, guard=True)
async def retry_instance(context: Context, request: RetryInstance) -> InstanceView:
    """Try again what an incident stopped."""
    aggregate = await retry_tokens(
        context,
        request.id,
        request.token,
        flags=request.flags,
        reason=request.reason,
        confirm=request.confirm,
        phrase=request.phrase,
    )
    return await context.views.instance(aggregate)


@operation(
    "instance.resolve",
    Route("POST", "/instances/{id}/resolve", needs_body=True),
    tag=TAG,
    scope=VERBS_OF_INSTANCE,
    guard=True,
)
async def resolve_instance(context: Context, request: ResolveInstance) -> InstanceView:
    """End by hand what an incident stopped."""
    id, origin = request.id, context.origin
    aggregate = await context.runtime.instances.read(id, origin)
    token = stuck_tokens(aggregate, request.token)[0]
    change = {"data": request.data, "flags": request.flags}
    await confirm_graver(context, aggregate, token, "resolve", request.confirm, request.phrase, change)
    found = await context.runtime.engine.resolve_incident(
        id,
        token,
        origin,
        data=request.data,
        flags=request.flags,
        error=request.error,
        reason=request.reason,
    )
    return await context.views.instance(found)


@operation("instance.erase", Route("POST", "/instances/{id}/erase"), tag=TAG, scope=VERBS_OF_INSTANCE, guard=True)
async def erase_instance(context: Context, request: EraseInstance) -> InstanceView:
    """Erase the data of an ended instance and of those it called; their history stays and still verifies."""
    found = await context.runtime.instances.read(request.id, context.origin)
    await Erasure(context.runtime, context.origin).erase(found.id, request.reason)
    return await context.views.instance(await context.runtime.instances.read(request.id, context.origin))
