"""Calls: a call activity begins an instance of another process and goes on when that has ended."""

from __future__ import annotations

from contextlib import suppress

from perdure.bpmn.machine.aggregate_ids import child_id
from perdure.bpmn.machine.call_activity_flags import (
    CALLER_SUSPENDED,
    CANNOT_CALL,
    GRAVER_CALL,
    MAX_CALLS,
    flags_of_arguments,
    handed,
    only,
    returned,
    shared_flags,
)
from perdure.bpmn.machine.commands import EndCall, Escalate, RaiseIncident
from perdure.bpmn.machine.journal_entries import InstanceResumed, InstanceStarted, Thrown
from perdure.bpmn.machine.result_paths import place_of
from perdure.bpmn.machine.state import Flags, Instance, Node
from perdure.bpmn.model import CallActivity
from perdure.engine import StartRequest
from perdure.engines.embedded.instances.instance_changes import InstanceChanges, called_by
from perdure.engines.embedded.instances.instances import Instances
from perdure.errors import (
    DamagedPayloadError,
    MergeConflictError,
    PayloadTooLargeError,
    QuarantinedError,
    RejectedError,
    Rejection,
    SchemaViolationError,
)
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Prepared
from perdure.kernel.ports import PENDING, Attachments
from perdure.payload import Held
from perdure.processes.payload_merge import Change, difference
from perdure.processes.plan_cache import Definition
from perdure.runbooks.machine.runbook_machine import NOTICE
from perdure.sources import Id, id_text, iso, parse_id

PLATFORM = "perdure"
ERASED = "call.erased"


class Calls:
    """Between two instances: neither is touched in the commit of the other."""

    def __init__(self, instances: Instances, changes: InstanceChanges) -> None:
        self._instances = instances
        self._changes = changes

    async def begin(self, parent: Aggregate, thrown: Thrown, message_id: str) -> bool:
        """The called process begins with the caller's data and flags: those both declare and the call hands over."""
        state: Instance = parent.state
        origin = Origin(parent.tenant, state.principal, state.trace, behind=state.behind)
        settles = Attachments(settles=(parent.tenant, message_id))
        node = state.nodes.get(thrown.number)
        if node is None or node.kind != "call":
            await self._instances.settle(parent.tenant, settles)
            return True
        if state.status == "suspended":
            return False
        try:
            await self._refuse_depth(parent, thrown.name, origin)
            version = await self._instances.definitions.choose(thrown.name, None, origin)
            definition = await self._instances.definitions.load(thrown.name, version.hash, parent.tenant)
            consequences = self._instances.definitions.consequences
            if graver := await consequences.too_grave(state.agreed, thrown.name, origin, version.number):
                command = RaiseIncident(node=thrown.number, code=GRAVER_CALL, text=graver)
                await self._instances.ask(parent.id, origin, lambda _: Prepared(command, settles))
                return True
            given = handed(call_of(await self._instances.loaded(parent), node))
            data = await self._instances.data(parent)
            own = flags_of_arguments(definition.deployed.flags, data)
            request = StartRequest(
                process=thrown.name, version=version.number, data=data, business_key=state.business_key,
                flags=own | only(shared_flags(state.flags, definition.deployed), given),
                parent=f"node:{id_text(parent.id)}:{thrown.number}", agreed=state.agreed,
            )  # fmt: skip
            child = await self._instances.start(request, origin, brought=settles)
        except (RejectedError, SchemaViolationError, PayloadTooLargeError, DamagedPayloadError) as error:
            code = error.code if isinstance(error, DamagedPayloadError) else CANNOT_CALL
            command = RaiseIncident(
                node=thrown.number, code=code, text=f"The called process could not be started. {error}"
            )
            await self._instances.ask(parent.id, origin, lambda _: Prepared(command, settles))
            return True
        with suppress(RejectedError, QuarantinedError):  # it is over already, or cannot be read
            await self._hold(child.id, parent, origin)
        return True

    async def hold(self, parent: Aggregate, message_id: str) -> bool:
        """The caller was suspended: so is what it calls and was not reached then, because it was just beginning.

        Where the caller goes on again already, so does what was reached too late.
        """
        origin, is_beginning = Origin(parent.tenant, PLATFORM), False
        if parent.state.status != "suspended":
            await self._changes.resume_called(parent, origin)
        else:
            is_beginning = await self._is_beginning(parent)  # first: what is no longer beginning is there to be found
            for child in called_by(parent):
                with suppress(RejectedError, QuarantinedError):  # it has not begun, is over, or cannot be read
                    await self._hold_missed(child, parent, origin)
        if not is_beginning:
            await self._instances.settle(parent.tenant, Attachments(settles=(parent.tenant, message_id)))
        return not is_beginning

    async def _is_beginning(self, parent: Aggregate) -> bool:
        """Whether the notice of one of its calls is still open, so that somebody may be about to act on it."""
        for node in parent.state.nodes.values():
            if node.kind == "call":
                begun = await self._instances.store.message(parent.tenant, call_notice(parent, node.number))
                if begun is not None and begun.status == PENDING:
                    return True
        return False

    async def _hold_missed(self, id: Id, parent: Aggregate, origin: Origin) -> None:
        """Suspend what is called, unless it is, or somebody let it go on by itself meanwhile."""
        if (await self._instances.read(id, origin)).state.status == "suspended":
            return
        told = await self._instances.history(id, origin)
        turns = [entry for each in told for entry in each.entries if isinstance(entry, InstanceResumed)]
        if not any(entry.at >= parent.state.suspended_at for entry in turns):
            await self._hold(id, parent, origin)

    async def _hold(self, child: Id, parent: Aggregate, origin: Origin) -> None:
        """Who suspended the caller just now did not find the called process yet; nor may who resumes it again."""
        if await self._is_suspended(parent, origin):
            await self._changes.suspend(child, origin, reason=CALLER_SUSPENDED)
            if not await self._is_suspended(parent, origin) and await self._changes.is_held(child, origin):
                await self._changes.resume(child, origin)

    async def _is_suspended(self, parent: Aggregate, origin: Origin) -> bool:
        state: Instance = (await self._instances.read(parent.id, origin)).state
        return state.status == "suspended"

    async def _refuse_depth(self, parent: Aggregate, process: str, origin: Origin) -> None:
        around = parent
        for _ in range(MAX_CALLS):
            kind, _, rest = around.state.parent.partition(":")
            if kind != "node":
                return
            around = await self._instances.read(parse_id(rest.partition(":")[0], "instance"), origin)
        fact = f"{MAX_CALLS} processes have called each other already"
        raise RejectedError(Rejection("blocked", "start", "process", process, fact, "End the recursion in the model."))

    async def cancel(self, parent: Aggregate, node: int, message_id: str) -> bool:
        """The call activity is gone: what it called is cancelled."""
        origin = Origin(parent.tenant, PLATFORM)
        begun = await self._instances.store.message(parent.tenant, call_notice(parent, node))
        if begun is not None and begun.status == PENDING:
            return False  # it is settled first, and then nothing is begun any more
        child = child_id(parent.tenant, f"node:{id_text(parent.id)}:{node}")
        brought = Attachments(settles=(parent.tenant, message_id))
        try:
            await self._changes.cancel(child, origin, reason="what called it has ended", brought=brought)
        except RejectedError:  # it was never begun
            await self._instances.settle(parent.tenant, Attachments(settles=(parent.tenant, message_id)))
        return True

    async def escalate(self, child: Aggregate, thrown: Thrown, message_id: str) -> bool:
        """Nothing in the called process caught an escalation: the caller hears it, and the call goes on."""
        _, letters, number = child.state.parent.split(":")
        settles = Attachments(settles=(child.tenant, message_id))

        def make(aggregate: Aggregate) -> Prepared:
            worker = self._instances.worker_of(aggregate)
            return Prepared(Escalate(node=int(number), code=thrown.name, worker=worker), settles)

        try:
            await self._instances.ask(parse_id(letters, "instance"), Origin(child.tenant, PLATFORM), make)
        except RejectedError:  # nobody is there to hear it any more
            await self._instances.settle(child.tenant, settles)
        return True

    async def _is_unheard(self, child: Aggregate) -> bool:
        """Whether an escalation of the called process is still on its way: it goes before the end."""
        if not (await self._instances.loaded(child)).deployed.escalations:
            return False
        for told in await self._instances.history(child.id, Origin(child.tenant, PLATFORM)):
            for entry in told.entries:
                if isinstance(entry, Thrown) and entry.kind == "escalation":
                    name = f"{NOTICE}{id_text(child.id)}/escalation/{entry.number}"
                    row = await self._instances.store.message(child.tenant, name)
                    if row is not None and row.status == PENDING:
                        return True
        return False

    async def ended(self, child: Aggregate, parent: str, message_id: str) -> bool:
        """The called process has ended: what it changed comes back, and the call activity goes on."""
        if await self._is_unheard(child):
            return False
        letters, _, number = parent.partition(":")
        id, node = parse_id(letters, "instance"), int(number)
        origin = Origin(child.tenant, PLATFORM)
        first = last = None
        if not child.state.erased_at:
            first = await self._first(child)
            last = await self._instances.payloads.open(child.id, child.state.head)

        def make(aggregate: Aggregate) -> Prepared | Rejection:
            return self._returned(aggregate, node, child, first, last, (child.tenant, message_id))

        try:
            await self._instances.ask(id, origin, make)
        except RejectedError:  # nothing waits for it any more
            await self._instances.settle(child.tenant, Attachments(settles=(child.tenant, message_id)))
        return True

    def _returned(
        self, aggregate: Aggregate, node: int, child: Aggregate, first: Held | None, last: Held | None,
        settles: tuple[str, str],
    ) -> Prepared | Rejection:  # fmt: skip
        state: Instance = child.state
        brought = Attachments(settles=settles)
        worker = self._instances.worker_of(aggregate)
        waiting = aggregate.state.nodes.get(node)
        if waiting is None or waiting.kind != "call":
            return Rejection("wrong_state", "end a call of", "instance", id_text(aggregate.id), "it waits no more")
        failure = state.failure
        head, flags = b"", {}
        if state.status in ("completed", "terminated"):
            if first is None or last is None:
                text = f"What '{id_text(child.id)}' was called for is erased. Resolve it by hand, with data if need be."
                return Prepared(RaiseIncident(node=node, code=ERASED, text=text), brought)
            patch = difference(first.data, last.data)
            at, place = iso(state.ended_at) or "", place_of(aggregate.state, waiting)
            definition = self._instances.definition(aggregate)
            rules = definition.deployed.merge
            change = Change(patch, waiting.element, id_text(child.id), at, state.process, place, first, rules)
            try:
                if patch:
                    budget = self._instances.budget(definition)
                    sealed = self._instances.payloads.seal_change(aggregate.id, aggregate.state.head, change, budget)
                    brought.payloads.append(sealed)
                    head = sealed[0]
            except (MergeConflictError, PayloadTooLargeError, SchemaViolationError) as error:
                return Prepared(RaiseIncident(node=node, code=error.code, text=str(error)), brought)
            flags = self._flags(aggregate, waiting, state)
        command = EndCall(
            node=node, status=state.status, head=head, flags=flags, failure=failure, worker=worker
        )  # fmt: skip
        return Prepared(command, brought)

    def _flags(self, parent: Aggregate, node: Node, child: Instance) -> Flags:
        """The flags the called process wrote, of those both declare and the call takes back."""
        written = {name: child.flags[name] for name in child.written if name in child.flags}
        definition = self._instances.definition(parent)
        return only(shared_flags(written, definition.deployed), returned(call_of(definition, node)))

    async def _first(self, child: Aggregate) -> Held:
        """The payload the called process began with."""
        record = self._instances.machine.records.decode((await self._instances.store.records(child.id, 0, 1))[0].body)
        started = next(entry for entry in record.entries if isinstance(entry, InstanceStarted))
        return await self._instances.payloads.open(child.id, started.head)


def call_notice(parent: Aggregate, node: int) -> str:
    """The notice by which the process of a call activity begins."""
    return f"{NOTICE}{id_text(parent.id)}/call/{node}"


def call_of(definition: Definition, node: Node) -> CallActivity:
    call = definition.elements[node.element]
    assert isinstance(call, CallActivity)
    return call
