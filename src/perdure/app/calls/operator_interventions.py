"""The repair of a call: retry or resolve what an incident stopped, and correct its data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from perdure.app.audit.quarantine_release import recheck
from perdure.app.calls.call_journal import read
from perdure.app.calls.view_builder import spoken_of
from perdure.app.calls.views import CallView
from perdure.app.instances.incident_retry import confirm_graver, retry_tokens, stuck_tokens
from perdure.app.runbooks.step_human_tasks import unseen_tasks
from perdure.app.runbooks.step_retry import confirm_retry
from perdure.bpmn.machine.aggregate_ids import child_id
from perdure.errors import QuarantinedError, RejectedError, Rejection
from perdure.kernel.kernel import Prepared
from perdure.kernel.ports import Attachments
from perdure.runbooks.executor.call_executor import KIND
from perdure.runbooks.machine import commands as c
from perdure.runbooks.machine.runbook_machine import carried_as
from perdure.runbooks.machine.state import Failure, Runbook
from perdure.sources import Id, id_text, parse_id

if TYPE_CHECKING:
    from perdure.app.instances.views import InstanceView
    from perdure.app.operations.calls import ResolveCall
    from perdure.app.operations.operation import Context


async def retry(context: Context, id: str, confirm: str = "", phrase: str = "") -> CallView | InstanceView:
    """Try again what an incident stopped, in the call itself or in the process that carries it."""
    runtime, call = context.runtime, parse_id(id)
    if (instance := await _stuck_instance(context, call)) is not None:
        await _check_inside(context, "call.retry", instance)
        await retry_tokens(context, id_text(instance), None, confirm=confirm, phrase=phrase)
        return await _shown(context, call)
    aggregate = await read(runtime, context.origin, id)
    state: Runbook = aggregate.state
    number = spoken_of(state) or 1
    await confirm_retry(context, aggregate, number, confirm, phrase)
    is_failed = state.steps[number - 1].status == "failed"
    command = c.RetryStep(number) if is_failed else c.RetryIncident(number, runtime.lease.number)
    answer = await runtime.kernel.ask(KIND, call, context.origin, Prepared(command))
    assert answer.aggregate is not None
    return await context.calls.view(await runtime.conductor.executed(answer.aggregate))


async def resolve(context: Context, request: ResolveCall) -> CallView | InstanceView:
    """End by hand what an incident stopped, with a result or an error."""
    id, result, error, reason = request.id, request.result, request.error, request.reason
    call = parse_id(id)
    if (instance := await _stuck_instance(context, call)) is not None:
        await _check_inside(context, "call.resolve", instance)
        aggregate = await context.runtime.instances.read(instance, context.origin)
        token = stuck_tokens(aggregate, None)[0]
        change = {"data": result}
        await confirm_graver(context, aggregate, token, "resolve", request.confirm, request.phrase, change)
        await context.runtime.engine.resolve_incident(
            instance, token, context.origin, data=result, error=error or "", reason=reason
        )
        return await _shown(context, call)
    aggregate = await read(context.runtime, context.origin, id)
    state: Runbook = aggregate.state
    number = spoken_of(state) or 1
    unseen = await unseen_tasks(context, aggregate, number)
    if error is not None:
        failure = Failure("permanent_business", "incident.resolved", error)
        return await context.calls.ask(id, c.ResolveIncident(number, failure=failure, reason=reason, unseen=unseen))
    step = state.steps[number - 1]
    verb = context.runtime.conductor.texts.find(step.verb, step.version, step.definition)
    if verb is None:
        fact = f"its verb '{step.verb}' is not loaded here, so the result cannot be checked"
        hint = "Resolve it with an error, or where the verb is loaded."
        raise RejectedError(Rejection("blocked", "resolve", "call", id, fact, hint))
    cargo = context.runtime.router.outgoing(verb, {} if result is None else result)
    brought = Attachments(payloads=[(cargo.hash, cargo.data)])
    command = c.ResolveIncident(number, result=cargo.hash, reason=reason, unseen=unseen)
    return await context.calls.ask(id, command, brought)


async def amend(context: Context, id: str, data: Any, reason: str, target: Literal["input", "result"]) -> CallView:
    """Propose a correction of data with a reason."""
    step = (await read(context.runtime, context.origin, id)).state.steps[0]
    verb = context.perdure.catalogue.get(step.verb, step.version)
    if target == "input" and not isinstance(data or {}, Mapping):
        fact = "arguments are an object of names and values"
        raise RejectedError(Rejection("invalid", "amend", "call", id, fact))
    router = context.runtime.router
    cargo = router.incoming(verb, data or {}) if target == "input" else router.outgoing(verb, data)
    brought = Attachments(payloads=[(cargo.hash, cargo.data)])
    return await context.calls.ask(id, c.ProposeAmendment(target, cargo.hash, reason), brought)


async def approve(context: Context, id: str, number: int) -> CallView:
    """Approve a correction that somebody else proposed; the index follows the corrected data."""
    aggregate = await context.runtime.kernel.read(parse_id(id), context.origin)
    state: Runbook = aggregate.state
    brought: Attachments | None = None
    if 1 <= number <= len(state.amendments):
        amendment, step = state.amendments[number - 1], state.steps[0]
        verb = context.perdure.catalogue.get(step.verb, step.version)
        hashes = {"input": step.input, "result": step.result, amendment.target: amendment.hash}
        values = [await context.calls.readable(aggregate, hash) for hash in hashes.values()]
        data = await context.runtime.store.payload(aggregate.id, amendment.hash)
        source = None if data is None else (amendment.hash, data)
        index = context.runtime.conductor.index(verb, values)
        brought = Attachments(index=index, index_source=source, reindexes=True)
    prepared = Prepared(c.ApproveAmendment(number), brought)
    answer = await context.runtime.kernel.ask(KIND, parse_id(id), context.origin, prepared)
    assert answer.aggregate is not None
    await recheck(context.runtime, answer.aggregate)
    return await context.calls.view(answer.aggregate)


async def _check_inside(context: Context, operation: str, instance: Id) -> None:
    """Refuse a key that may use a verb, and does not reach the verbs of the process that is stuck behind it."""
    if context.is_narrow:
        context.check_all(operation, await context.perdure.data_verbs.of_id(id_text(instance)))


async def _shown(context: Context, id: Id) -> CallView | InstanceView:
    try:
        aggregate = await context.runtime.kernel.read(id, context.origin)
        is_call = aggregate.kind == KIND
        return await (context.calls.view(aggregate) if is_call else context.views.instance(aggregate))
    except QuarantinedError as error:
        return context.calls.damaged(id, error)


async def _stuck_instance(context: Context, id: Id) -> Id | None:
    """The instance whose incident stops a call, or the instance of that id; None when the call itself is stuck."""
    aggregate = await context.runtime.kernel.read(id, context.origin)
    if aggregate.kind != KIND:
        return id
    if any(step.incident is not None for step in aggregate.state.steps):
        return None
    letters = id_text(id)
    for number, step in enumerate(aggregate.state.steps, 1):
        if step.carrier is not None and step.status == "parked":
            place = f"step:{carried_as(letters, number, step)}"
            if (found := await _deepest(context, child_id(aggregate.tenant, place))) is not None:
                return found
    return None


async def _deepest(context: Context, id: Id) -> Id | None:
    """Of an instance and those it called, the one that is stuck."""
    try:
        aggregate = await context.runtime.instances.read(id, context.origin)
    except RejectedError:
        return None
    nodes = aggregate.state.nodes.values()
    if any(node.incident is not None for node in nodes):
        return id
    letters = id_text(id)
    for node in nodes:
        if node.kind == "call":
            called = child_id(aggregate.tenant, f"node:{letters}:{node.number}")
            if (found := await _deepest(context, called)) is not None:
                return found
    return None
