"""Durable calls: an instance carries the call of a durable verb, from its parking to its end."""

from __future__ import annotations

from typing import Any

from perdure.bpmn.machine.aggregate_ids import child_id
from perdure.bpmn.machine.instance_machine import INSTANCE_TOLD, RAISED, RESOLVED
from perdure.bpmn.machine.journal_entries import Entered, IncidentRaised, IncidentResolved
from perdure.bpmn.machine.state import Instance
from perdure.engine import StartRequest
from perdure.engines.embedded.instances.engine_waiting import EngineWaiting
from perdure.engines.embedded.instances.instance_changes import InstanceChanges
from perdure.engines.embedded.instances.instances import Instances
from perdure.errors import (
    DamagedPayloadError,
    EngineSettingError,
    EngineUnavailableError,
    InvariantBroken,
    PayloadTooLargeError,
    RejectedError,
    Rejection,
    SchemaViolationError,
)
from perdure.journal import Origin
from perdure.journal.notice_routes import IncidentRoute, OverRoute, StepRoute
from perdure.kernel.kernel import Aggregate, Prepared
from perdure.kernel.ports import APPLIED, PENDING, Attachments, InboxRow
from perdure.payload import parse
from perdure.runbooks.executor.call_executor import KIND, index_rows
from perdure.runbooks.machine import commands as c
from perdure.runbooks.machine.runbook_machine import carried_as, carried_step
from perdure.runbooks.machine.state import ENDED, WAITING, Failure, Runbook, Step, step_id
from perdure.sources import SECOND, Id, id_text, iso, parse_id
from perdure.verbs import Verb
from perdure.verbs.schema_shorthand import argument_name

PLATFORM = "perdure"
STUCK = "process.stuck"
FITS_NOT = "process.result"
UNREACHABLE = "engine.unreachable"


class DurableCalls:
    """Between a call and the instance that carries it."""

    def __init__(self, instances: Instances, changes: InstanceChanges) -> None:
        self._instances = instances
        self._kernel = instances.kernel
        self._changes = changes
        self._waits = EngineWaiting(instances.store, instances.sources)

    async def asked(self, tenant: str, message_id: str, id: Id, route: StepRoute) -> bool:
        """Begin the instance of a step, once; a step that has ended meanwhile needs none."""
        if not self._waits.is_due(id, route.step):
            return False
        origin = Origin(tenant, PLATFORM)
        call = await self._kernel.read(id, origin)
        state: Runbook = call.state
        number = route.step
        step = state.steps[number - 1]
        settles = Attachments(settles=(tenant, message_id))
        if step.carrier is None or step.status in ENDED:
            if self._instances.reader.commands is not self._kernel:
                await self._waits.end(id, number)
            await self._instances.settle(tenant, settles)
            return True
        verb = self._instances.conductor.texts.find(step.verb, step.version, step.definition)
        if verb is None:
            return False  # who has the verb knows what of its arguments the process gets
        asker = Origin(tenant, state.principal, state.trace, behind=state.behind)
        try:
            args = await self._arguments(call, step)
            request = StartRequest(
                process=step.carrier.process, version=step.carrier.version, data=payload_in(verb, args),
                flags=flags_in(verb, args, id_text(id), number), business_key=id_text(id),
                parent=f"step:{carried_as(id_text(id), number, step)}",
            )  # fmt: skip
            await self._instances.start(request, asker, brought=settles, is_pinned=True)
        except (EngineUnavailableError, EngineSettingError) as error:
            return await self._unreachable(call, number, verb, message_id, error)
        except (RejectedError, SchemaViolationError, PayloadTooLargeError, DamagedPayloadError) as error:
            code = error.code if isinstance(error, DamagedPayloadError) else STUCK
            await self._stuck(id, number, tenant, message_id, code, f"Its process could not be started. {error}")
        if self._instances.reader.commands is not self._kernel:
            await self._waits.end(id, number)
        return True

    async def _unreachable(
        self, call: Aggregate, number: int, verb: Verb, message_id: str,
        error: EngineUnavailableError | EngineSettingError,
    ) -> bool:  # fmt: skip
        """Count the attempt; a step whose policy waits no longer fails, and what may have begun is cancelled."""
        policy = verb.execution.unreachable
        waited = await self._waits.tried(call.tenant, call.id, number, policy, error)
        if policy is None or waited.tried_at - waited.since < policy.timeout_seconds * SECOND:
            return False
        text = f"The engine at {waited.engine} was not reached in {waited.tries} attempts since {iso(waited.since)}."
        failure = Failure("transient_infrastructure", UNREACHABLE, f"{text} {waited.reason}")
        step = call.state.steps[number - 1]
        token = next((at for at, each in enumerate(step.tokens, 1) if each.status == WAITING), 0)
        command = c.Complete(number, token, failure=failure, message_id=message_id)
        await self._report(call, command, Attachments(settles=(call.tenant, message_id)))
        await self._waits.end(call.id, number)
        return True

    async def _report(self, call: Aggregate, command: c.Complete | c.Cancel, brought: Attachments) -> None:
        """Tell a step of its end; a plan goes on from there."""
        origin = Origin(call.tenant, PLATFORM)
        if call.state.course is not None and isinstance(command, c.Complete):
            await self._instances.conductor.plans.report(call.id, origin, command, brought)
        else:
            await self._kernel.ask(KIND, call.id, origin, Prepared(command, brought))

    async def _arguments(self, call: Aggregate, step: Step) -> dict[str, Any]:
        data = await self._instances.store.payload(call.id, step.input)
        found: dict[str, Any] = parse(data, max_bytes=max(len(data), 1)) if data else {}
        return found

    async def over(self, tenant: str, message_id: str, id: Id, route: OverRoute) -> bool:
        """The step ended in another way: the instance that carried it has nothing left to do."""
        origin = Origin(tenant, PLATFORM)
        begun = await self._instances.store.message(tenant, route.begun_by)
        if begun is not None and begun.status == PENDING:
            return False  # it is settled first, and then nothing is begun any more
        instance = child_id(tenant, f"step:{route.place}")
        call = await self._kernel.read(id, origin)
        if call.state.erased_at and not await self._instances.conductor.complete_erasure(id, origin):
            return False
        brought = Attachments(settles=(tenant, message_id))
        try:
            await self._changes.cancel(instance, origin, reason="the call it carried has ended", brought=brought)
        except RejectedError:  # it was never begun, or has ended
            if not all([await is_over(instance, origin) for is_over in self._instances.given_up]):
                return False
            await self._instances.settle(tenant, Attachments(settles=(tenant, message_id)))
        return True

    async def ended(self, child: Aggregate, step: str, message_id: str) -> bool:
        """The process has ended: its step ends with the same outcome."""
        letters, position = carried_step(step)
        id, tenant = parse_id(letters), child.tenant
        origin = Origin(tenant, PLATFORM)
        call = await self._kernel.read(id, origin)
        asked = call.state.steps[position - 1]
        token = next((at for at, each in enumerate(asked.tokens, 1) if each.status == WAITING), 0)
        brought = Attachments(settles=(tenant, message_id))
        if not token or carried_as(letters, position, asked) != step:
            await self._instances.settle(tenant, brought)
            return True
        verb = self._instances.conductor.texts.find(asked.verb, asked.version, asked.definition)
        if verb is None:
            return False  # who has the verb can tell whether the result fits it
        try:
            command = await self._ending(verb, child, position, token, message_id, brought)
        except (SchemaViolationError, PayloadTooLargeError, DamagedPayloadError) as error:
            code = error.code if isinstance(error, DamagedPayloadError) else FITS_NOT
            await self._stuck(id, position, tenant, message_id, code, f"What its process brought does not fit. {error}")
            return True
        try:
            await self._report(call, command, brought)
        except RejectedError as error:
            if error.rejection.code == "blocked":
                return False  # a person looks at something else of that call first
            await self._instances.settle(tenant, Attachments(settles=(tenant, message_id)))
        return True

    async def told(self, tenant: str, message_id: str, id: Id, route: IncidentRoute) -> bool:
        """The process is stuck, or goes on again: the step's own journal says so."""
        origin = Origin(tenant, PLATFORM)
        child = await self._instances.read(id, origin)
        call, step = carried_step(child.state.parent.removeprefix("step:"))
        command = await self._telling(child, step, route)
        # Under an id of its own, so that it is told once whoever delivers it.
        row = InboxRow(
            tenant, f"{message_id}/told", INSTANCE_TOLD, "", self._instances.sources.now(), APPLIED, "told",
            parse_id(call), None,
        )  # fmt: skip
        brought = Attachments(inbox=row, settles=(tenant, message_id))
        answer = await self._kernel.ask(KIND, parse_id(call), origin, Prepared(command, brought))
        if answer.conflict is not None:
            await self._instances.settle(tenant, Attachments(settles=(tenant, message_id)))
        return True

    async def _telling(self, child: Aggregate, step: int, route: IncidentRoute) -> c.TellIncident:
        what, number, at = route.what, route.number, route.at
        elements: dict[int, str] = {}
        for told in await self._instances.history(child.id, Origin(child.tenant)):
            for entry in told.entries:
                if isinstance(entry, Entered):
                    elements[entry.number] = entry.element
                elif getattr(entry, "number", 0) != number or getattr(entry, "at", 0) != at:
                    continue
                elif isinstance(entry, IncidentRaised) and what == RAISED:
                    return c.TellIncident(step, number, elements.get(number, ""), entry.code, entry.text)
                elif isinstance(entry, IncidentResolved) and what == RESOLVED:
                    return c.TellIncident(step, number, elements.get(number, ""), how=entry.how)
        raise InvariantBroken("tell of", "incident", f"{id_text(child.id)}:{number}", "its journal does not know it")

    async def _ending(
        self, verb: Verb, child: Aggregate, step: int, token: int, message_id: str, brought: Attachments
    ) -> c.Complete | c.Cancel:
        state: Instance = child.state
        if state.status == "cancelled":
            return c.Cancel("its process was cancelled", step)
        if state.status not in ("completed", "terminated"):
            return c.Complete(step, token, failure=_failure(state), message_id=message_id)
        data = await self._instances.data(child)
        if data is None:
            erased = Failure("permanent_business", "process.erased", "The data of its process has been erased.")
            return c.Complete(step, token, failure=erased, message_id=message_id)
        cargo = self._instances.conductor.router.outgoing(verb, payload_out(verb, data))
        brought.payloads.append((cargo.hash, cargo.data))
        brought.index.extend(index_rows(verb, cargo.value))
        return c.Complete(step, token, cargo.hash, message_id=message_id)

    async def _stuck(self, id: Id, step: int, tenant: str, message_id: str, code: str, text: str) -> None:
        """A person must see it; while they look at something else of that call, the notice waits."""

        def prepare(current: Aggregate) -> Prepared | Rejection:
            if current.state.steps[step - 1].incident is not None:
                return Rejection("blocked", "carry", "call", id_text(current.id), "it has an open incident")
            return Prepared(c.RaiseIncident(step, code, text), Attachments(settles=(tenant, message_id)))

        await self._kernel.ask(KIND, id, Origin(tenant, PLATFORM), prepare)


def _failure(state: Instance) -> Failure:
    if state.failure is not None:
        return Failure(state.failure.kind, state.failure.code, state.failure.message)
    return Failure("permanent_business", f"process.{state.status}", f"Its process was {state.status}.")


def payload_in(verb: Verb, args: dict[str, Any]) -> dict[str, Any]:
    """What the process begins with: the declared fields from the verb's arguments, or all of them."""
    wanted = verb.execution.payload_in
    if not wanted:
        return args
    data: dict[str, Any] = {}
    for field, source in wanted.items():
        if not source.startswith("$"):
            data[field] = source
        elif (name := argument_name(source[1:])) in args:
            data[field] = args[name]
    return data


def flags_in(verb: Verb, args: dict[str, Any], call: str, step: int) -> dict[str, str | bool | int]:
    """The flags whose first value is an argument of the call, or the id of the call or of its step."""
    given = {"call_id": call, "step_id": step_id(call, step), **args}
    return {flag.name: given[flag.argument] for flag in verb.execution.flags if flag.argument in given}


def payload_out(verb: Verb, data: dict[str, Any]) -> dict[str, Any]:
    """What the verb's caller gets of the data: the declared fields, or what its output schema names, or all."""
    names = verb.execution.payload_out or (tuple(verb.output.properties) if verb.output is not None else ())
    return {name: data[name] for name in names if name in data} if names else data
