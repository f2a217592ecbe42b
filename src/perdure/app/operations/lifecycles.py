"""Operations on lifecycles: start or find, status, transitions, blockers, task results, history and definitions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from perdure.app.documents.shown_documents import PREFIXES
from perdure.app.erasure import Erasure
from perdure.app.lifecycles.views import (
    DeployedLifecycle,
    EntryView,
    LifecycleBegun,
    LifecycleDrawing,
    LifecycleItem,
    LifecycleStatus,
    LifecycleVersionView,
    MigrationPlan,
    PendingTaskView,
    TaskReceipt,
    TransitionAnswer,
)
from perdure.app.lists.cursors import Page
from perdure.app.operations.operation import Context, Reached, Request, Route, operation
from perdure.app.operations.request_fields import Data, Id, Limit, Name, Nothing, Number, Version
from perdure.app.operations.verb_scopes import DISCOVERED, REDACTED
from perdure.app.quarantine_views import QUARANTINED
from perdure.app.runbooks.confirmation import check_confirmed, plan_of_call, plan_of_lifecycle, use_confirmation
from perdure.app.runbooks.views import PlanView
from perdure.app.task_results.result_intake import Sender, outcome_of_answer
from perdure.lifecycles.machine.commands import CargoItem
from perdure.lifecycles.task_results import result_of

TAG = "lifecycles"
HTTP = "http"
Reason = Annotated[str, msgspec.Meta(max_length=2000)]
SentStatus = Literal["completed", "failed", "expired", "Completed", "Failed", "Expired"]


async def _verbs_of_instance(context: Context, request: Any) -> list[str]:
    desk = context.perdure.lifecycle_operations
    _, definition = await desk.definition_of(request.id)
    return await desk.verbs.of(definition)


async def _verbs_of_definition(context: Context, request: Any) -> list[str]:
    desk = context.perdure.lifecycle_operations
    return await desk.verbs.of(await desk.definition(request.lifecycle, request.version))


async def _verbs_of_lifecycle(context: Context, request: Any) -> list[str]:
    return await context.perdure.lifecycle_operations.verbs.of_all(request.lifecycle)


VERBS_OF_INSTANCE = Reached(_verbs_of_instance)
VERBS_OF_DEFINITION = Reached(_verbs_of_definition)
VERBS_OF_LIFECYCLE = Reached(_verbs_of_lifecycle)


class StartLifecycle(Request, frozen=True):
    """A lifecycle and its subject; the context holds what `$names` of the definition stand for."""

    lifecycle: Name
    subject: Name
    context: Data = msgspec.field(default_factory=dict)
    version: Version = None
    confirm: str = ""
    phrase: str = ""


class ShowLifecycle(Request, frozen=True):
    """A lifecycle instance."""

    id: Id


class Transit(Request, frozen=True):
    """A manual transition of an instance."""

    id: Id
    target: Name
    reason: Reason = ""


class ResolveBlocker(Request, frozen=True):
    """A blocker of an instance, by the key of its requirement."""

    id: Id
    key: Name
    confirm: str = ""
    phrase: str = ""


class DoAction(Request, frozen=True):
    """An action that the present state of an instance offers."""

    id: Id
    action: Name
    confirm: str = ""
    phrase: str = ""


class CancelLifecycle(Request, frozen=True):
    """An instance, and why it ends."""

    id: Id
    reason: Reason


class RetryLifecycleTask(Request, frozen=True):
    """A task of an instance that failed or expired, by its number."""

    id: Id
    task: Number
    confirm: str = ""
    phrase: str = ""


class DismissLifecycleTask(Request, frozen=True):
    """An action of an instance that failed, by the number of its task, and why nothing more is done about it."""

    id: Id
    task: Number
    reason: Annotated[str, msgspec.Meta(min_length=1, max_length=2000)]


class EraseLifecycle(Request, frozen=True):
    """Why data are erased; the journal keeps it, and this act needs a reason."""

    id: Id
    reason: Annotated[str, msgspec.Meta(min_length=1, max_length=2000)]


class MigrateLifecycle(Request, frozen=True):
    """An instance, the version it goes on under, and the state that stands for its own there."""

    id: Id
    version: Version = None
    state: str = ""
    reason: Reason = ""
    dry: bool = False
    confirm: str = ""
    phrase: str = ""


class ListLifecycles(Request, frozen=True):
    """Instances of a lifecycle, in a state, of a subject or behind a blocker; all of them by default."""

    lifecycle: str = ""
    state: str = ""
    subject: str = ""
    limit: Limit = 50
    after: str | None = None
    blocker: Annotated[str, msgspec.Meta(max_length=500, description="The key of a requirement that is not met.")] = ""


class ShowHistory(Request, frozen=True):
    """The journal of an instance after one of its records."""

    id: Id
    limit: Limit = 100
    after: str | None = None


class SendTaskResult(Request, frozen=True, kw_only=True):
    """What came of a pending task: one pointer, or a bundle of them. `task_id` is another name of `correlation_id`.

    `timestamp` says when the sender had it; the journal says when it was counted.
    """

    correlation_id: Annotated[str, msgspec.Meta(max_length=1000)] = ""
    status: SentStatus
    cargo_type: str = ""
    cargo_ref: str = ""
    error: Reason = ""
    items: list[CargoItem] = msgspec.field(default_factory=list)
    verb: str = ""
    idempotency_key: str = ""
    task_id: Annotated[str, msgspec.Meta(max_length=1000)] = ""
    timestamp: str = ""


class LifecycleText(Request, frozen=True):
    """A lifecycle file; `file` is its name in what is said about it."""

    yaml: str
    file: str = "<text>"
    confirm: str = ""
    phrase: str = ""


class RetireLifecycle(Request, frozen=True):
    """A lifecycle in one version, and why nothing begins under it any more."""

    lifecycle: Name
    version: Number
    reason: Reason = ""


class PendingTasks(msgspec.Struct, frozen=True):
    """Pending tasks of an instance, oldest first."""

    tasks: list[PendingTaskView]


@operation("lifecycle.start", Route("POST", "/lifecycles", 201), tag=TAG, scope=VERBS_OF_DEFINITION, repeat="domain")
async def start_lifecycle(context: Context, request: StartLifecycle) -> LifecycleBegun:
    """Start a lifecycle for a subject, or find the one that is active for it.

    One that calls something grave by itself is confirmed first.
    """
    desk = context.perdure.lifecycle_operations
    definition = await desk.definition(request.lifecycle, request.version)
    plan = await plan_of_lifecycle(context.perdure, definition, {"subject": request.subject, "data": request.context})
    await _confirmed(context, plan, request.confirm, request.phrase, "A person can start it.")
    return await desk.start(request.lifecycle, request.subject, request.context, request.version)


@operation("lifecycle.list", Route("GET", "/lifecycles"), tag=TAG, scope=REDACTED)
async def list_lifecycles(context: Context, request: ListLifecycles) -> Page[LifecycleItem]:
    """Instances, newest first, with what blocks them. Instances of verbs that a key does not reach are left out.

    A damaged one is `quarantined`.
    """
    desk = context.perdure.lifecycle_operations
    items, after = await desk.page(
        request.lifecycle, request.state, request.subject, request.after or "", request.limit, request.blocker
    )
    seen: dict[tuple[str, int], bool] = {}
    for each in items:
        place = (each.lifecycle, each.version)
        if context.is_narrow and each.status != QUARANTINED and place not in seen:
            _, definition = await desk.definition_of(each.id)
            seen[place] = context.reaches(await desk.verbs.of(definition))
    is_all = not context.is_narrow
    return Page([each for each in items if is_all or seen.get((each.lifecycle, each.version))], after)


@operation("lifecycle.read", Route("GET", "/lifecycles/{id}"), tag=TAG, scope=VERBS_OF_INSTANCE)
async def show_lifecycle(context: Context, request: ShowLifecycle) -> LifecycleStatus:
    """An instance with its state, progress, blockers and resolutions, transitions and what they miss, and history."""
    return await context.perdure.lifecycle_operations.show(request.id)


@operation(
    "lifecycle.read", Route("GET", "/workflow/{id}/pending-tasks"), tag=TAG, scope=VERBS_OF_INSTANCE
)  # fmt: skip
async def list_pending_tasks(context: Context, request: ShowLifecycle) -> PendingTasks:
    """The pending tasks of an instance, with what came of them."""
    return PendingTasks((await context.perdure.lifecycle_operations.show(request.id)).tasks)


@operation("lifecycle.read", Route("GET", "/lifecycles/{id}/history"), tag=TAG, scope=VERBS_OF_INSTANCE)
async def show_lifecycle_history(context: Context, request: ShowHistory) -> Page[EntryView]:
    """The journal of an instance, oldest first, with the facts that each decision used."""
    after = int(request.after) if request.after and request.after.isdecimal() else 0
    entries, following = await context.perdure.lifecycle_operations.history(request.id, after, request.limit)
    return Page(entries, None if following is None else str(following))


@operation("lifecycle.read", Route("GET", "/lifecycles/{id}/drawing"), tag=TAG, scope=VERBS_OF_INSTANCE)
async def draw_lifecycle(context: Context, request: ShowLifecycle) -> LifecycleDrawing:
    """The lifecycle of an instance as SVG, with its present state marked."""
    return await context.perdure.lifecycle_operations.draw(request.id)


@operation("lifecycle.transit", Route("POST", "/lifecycles/{id}/transition"), tag=TAG, scope=VERBS_OF_INSTANCE)
async def transit_lifecycle(context: Context, request: Transit) -> TransitionAnswer:
    """Take a manual transition, or agree to one that another person proposed. No agent can."""
    return await context.perdure.lifecycle_operations.transit(request.id, request.target, request.reason)


@operation("lifecycle.resolve", Route("POST", "/lifecycles/{id}/resolve"), tag=TAG, scope=VERBS_OF_INSTANCE)
async def resolve_blocker(context: Context, request: ResolveBlocker) -> LifecycleStatus:
    """Call the resolution of a blocker; the pending task it leaves is in the answer.

    A grave one is confirmed as a call of its verb is.
    """
    call = await context.perdure.lifecycle_operations.resolution(request.id, request.key)
    if call is not None:
        plan = await plan_of_call(context.perdure, call.verb, call.args)
        await _confirmed(context, plan, request.confirm, request.phrase, "A person can resolve it.")
    return await context.perdure.lifecycle_operations.resolve(request.id, request.key, call.verb if call else "")


@operation("lifecycle.act", Route("POST", "/lifecycles/{id}/act"), tag=TAG, scope=VERBS_OF_INSTANCE)
async def do_action(context: Context, request: DoAction) -> LifecycleStatus:
    """Do an action that the present state offers; the pending task that follows its call is in the answer.

    A grave one is confirmed as a call of its verb is.
    """
    desk = context.perdure.lifecycle_operations
    call = await desk.action(request.id, request.action)
    if call is not None:
        plan = await plan_of_call(context.perdure, call.verb, call.args)
        await _confirmed(context, plan, request.confirm, request.phrase, "A person can do it.")
    return await desk.act(request.id, request.action, call.verb if call else "")


@operation("lifecycle.retry", Route("POST", "/lifecycles/{id}/tasks/{task}/retry"), tag=TAG, scope=VERBS_OF_INSTANCE)
async def retry_lifecycle_task(context: Context, request: RetryLifecycleTask) -> LifecycleStatus:
    """Ask again for what failed or expired, however often it was asked for.

    A grave call is confirmed as a call of its verb is.
    """
    desk = context.perdure.lifecycle_operations
    call = await desk.task_call(request.id, request.task)
    if call is not None:
        plan = await plan_of_call(context.perdure, *call)
        await _confirmed(context, plan, request.confirm, request.phrase, "A person can retry it.")
    return await desk.retry(request.id, request.task)


@operation(
    "lifecycle.dismiss", Route("POST", "/lifecycles/{id}/tasks/{task}/dismiss"), tag=TAG, scope=VERBS_OF_INSTANCE
)  # fmt: skip
async def dismiss_lifecycle_task(context: Context, request: DismissLifecycleTask) -> LifecycleStatus:
    """Say that nothing more is to be done about an action that failed; its incident is over."""
    return await context.perdure.lifecycle_operations.dismiss(request.id, request.task, request.reason)


@operation("lifecycle.look", Route("POST", "/lifecycles/{id}/look"), tag=TAG, scope=VERBS_OF_INSTANCE)
async def look_again(context: Context, request: ShowLifecycle) -> LifecycleStatus:
    """Look at the facts of an instance once more, also when it is stuck."""
    return await context.perdure.lifecycle_operations.look(request.id)


@operation("lifecycle.cancel", Route("POST", "/lifecycles/{id}/cancel"), tag=TAG, scope=VERBS_OF_INSTANCE)
async def cancel_lifecycle(context: Context, request: CancelLifecycle) -> LifecycleStatus:
    """End an instance and everything it asked for."""
    return await context.perdure.lifecycle_operations.cancel(request.id, request.reason)


@operation("lifecycle.erase", Route("POST", "/lifecycles/{id}/erase"), tag=TAG, scope=VERBS_OF_INSTANCE)
async def erase_lifecycle(context: Context, request: EraseLifecycle) -> LifecycleStatus:
    """Erase the context of an instance that is over, the facts it was decided by, and the data of its calls."""
    aggregate, _ = await context.perdure.lifecycle_operations.definition_of(request.id)
    await Erasure(context.runtime, context.origin).erase(aggregate.id, request.reason)
    return await context.perdure.lifecycle_operations.show(request.id)


@operation("lifecycle.migrate", Route("POST", "/lifecycles/{id}/migrate"), tag=TAG, scope=VERBS_OF_INSTANCE)
async def migrate_lifecycle(context: Context, request: MigrateLifecycle) -> MigrationPlan:
    """Let an instance go on under another version; a dry run says what that changes."""
    desk = context.perdure.lifecycle_operations
    aggregate, _ = await desk.definition_of(request.id)
    definition = await desk.definition(aggregate.state.lifecycle, request.version)
    if context.is_narrow:
        context.check_all("lifecycle.migrate", await desk.verbs.of(definition))
    if not request.dry:
        plan = await plan_of_lifecycle(context.perdure, definition, {"instance": request.id})
        await _confirmed(context, plan, request.confirm, request.phrase, "A person can migrate it.")
    return await desk.migrate(request.id, request.version, request.state, request.reason, request.dry)


@operation(
    "task-result.send", Route("POST", "/workflow/task-complete", 202), tag=TAG, scope=DISCOVERED, repeat="domain"
)  # fmt: skip
async def send_task_result(context: Context, request: SendTaskResult) -> TaskReceipt:
    """Bring the result of a pending task; the same result counts once, and a late one changes nothing.

    202 when it counts, 200 when it is known or its task is over, 404 without such a task, 400 when its cargo is none.
    """
    desk = context.perdure.lifecycle_operations
    sent = msgspec.structs.asdict(request) | {"items": msgspec.to_builtins(request.items)}
    named = {"correlation_id": sent["correlation_id"] or sent.pop("task_id")}
    sent["idempotency_key"] = request.idempotency_key or context.idempotency_key
    result = result_of({name: value for name, value in (sent | named).items() if name != "task_id"})
    _, definition = await desk.definition_of_task(result.correlation_id)
    if context.is_narrow:
        context.check_all("task-result.send", await desk.verbs.of(definition))
    pieces = [each.cargo_ref for each in result.all_items()]
    if context.is_narrow and any(each.startswith(PREFIXES) for each in pieces):
        context.check_all("document.read", ["document.find"])
    receipt = await context.runtime.results.count(result, Sender(HTTP, context.origin.tenant), desk)
    if (metrics := context.runtime.metrics) is not None:
        metrics.task_result(HTTP, outcome_of_answer(receipt.answer))
    return receipt


@operation("lifecycle.list", Route("GET", "/lifecycle-definitions"), tag=TAG, scope=REDACTED)
async def list_lifecycle_definitions(context: Context, request: Nothing) -> Page[LifecycleVersionView]:
    """Every version of every lifecycle. Lifecycles of verbs that a key does not reach are left out."""
    desk = context.perdure.lifecycle_operations
    found = await desk.definitions()
    if context.is_narrow:
        names = dict.fromkeys(each.lifecycle for each in found)
        reached = {name for name in names if context.reaches(await desk.verbs.of_all(name))}
        found = [each for each in found if each.lifecycle in reached]
    return Page(found)


@operation("lifecycle.deploy", Route("POST", "/lifecycle-definitions", 201), tag=TAG, scope=DISCOVERED)
async def deploy_lifecycle(context: Context, request: LifecycleText) -> DeployedLifecycle:
    """Deploy a lifecycle for the tenant; the same content again is the same version, running instances keep theirs.

    What calls something grave by itself is deployed by a person, who confirms it for all those times.
    """
    desk = context.perdure.lifecycle_operations
    found = await desk.checked(request.yaml, request.file)
    definition = found.file.definition
    if context.is_narrow:
        before = [await desk.verbs.of(each) for each in await desk.verbs.versions(definition.name)]
        verbs = [*await desk.verbs.of(definition), *(name for names in before for name in names)]
        context.check_all("lifecycle.deploy", verbs)
    plan = await plan_of_lifecycle(context.perdure, definition, {"deploy": definition.name})
    await _confirmed(context, plan, request.confirm, request.phrase, "A person can deploy it.")
    return await desk.deploy(found)


@operation(
    "lifecycle.retire",
    Route("POST", "/lifecycle-definitions/{lifecycle}/versions/{version}/retire"),
    tag=TAG,
    scope=VERBS_OF_LIFECYCLE,
)
async def retire_lifecycle(context: Context, request: RetireLifecycle) -> Page[LifecycleVersionView]:
    """No instance begins under that version any more; those that run go on."""
    found = await context.perdure.lifecycle_operations.retire(request.lifecycle, request.version, request.reason)
    return Page(found)


async def _confirmed(context: Context, plan: PlanView, confirm: str, phrase: str, hint: str) -> None:
    """Let what is grave be done only when a person confirms it; the owner of the store is asked nothing."""
    if not context.is_owner:
        await check_confirmed(plan, context.principal, confirm, phrase, else_hint=hint)
        await use_confirmation(context.perdure, context.principal, plan, confirm, context.idempotency_key)
