"""Carried commands: a command is prepared for the instance as our journal has it, and decided by its workflow."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Any
from weakref import WeakValueDictionary

from msgspec.structs import replace

from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.bpmn.machine.commands import Cancel, ChangeCarrier, Migrate, RaiseIncident, RecordJob, StartInstance
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.bpmn.machine.state import ENDED, Instance
from perdure.engines.decided_elsewhere import changed_record
from perdure.engines.embedded.ports import EngineStore
from perdure.engines.instance_carrier import InstanceCarriers
from perdure.engines.temporal.dispatch_rows import DispatchRows, Staged
from perdure.engines.temporal.journal_follower import JournalFollower
from perdure.engines.temporal.wire import Begun, Dispatch, Reply
from perdure.engines.temporal.workflow_client import WorkflowClient, WorkflowGone
from perdure.errors import EngineUnavailableError, InvariantBroken, RejectedError, Rejection
from perdure.journal import Decision, Origin
from perdure.kernel.kernel import Aggregate, Answer, Kernel, Preparation, Prepared
from perdure.kernel.ports import Attachments, Conflict
from perdure.payload import canonical
from perdure.processes.definitions import Definitions
from perdure.sources import SECOND, Id, Sources, id_text
from perdure.work.process_lease import Lease

log = logging.getLogger("perdure")
MAX_LOOKS = 64
MAX_PAUSE = 10 * SECOND
NOWHERE = -1
"""The version of no instance: a dispatch prepared for it is decided only if it was decided before."""


class CarriedCommands:
    """The way of commands to the instances of one engine."""

    def __init__(
        self, engine: str, kernel: Kernel, store: EngineStore, definitions: Definitions, rows: DispatchRows,
        follower: JournalFollower, client: WorkflowClient, carriers: InstanceCarriers, lease: Lease, sources: Sources,
    ) -> None:  # fmt: skip
        self._engine = engine
        self._kernel = kernel
        self._lease = lease
        self._store = store
        self._definitions = definitions
        self._rows = rows
        self._follower = follower
        self._client = client
        self._sources = sources
        self._carriers = carriers
        self._turns: WeakValueDictionary[Id, asyncio.Lock] = WeakValueDictionary()
        self.under_way: set[str] = set()
        """Names of dispatches that this process is about."""

    # --- the port ------------------------------------------------------------------------------------------------

    async def start(self, kind: str, id: Id, origin: Origin, prepared: Prepared) -> Answer:
        async with self._turns.setdefault(id, asyncio.Lock()):
            return await self._start(id, origin, prepared)

    async def ask(self, kind: str, id: Id, origin: Origin, prepare: Preparation | Prepared) -> Answer:
        async with self._turns.setdefault(id, asyncio.Lock()):
            return await self._ask(id, origin, prepare)

    async def begin_moved(self, id: Id, tenant: str, name: str) -> None:
        """Begin the workflow of an instance that was moved; upkeep tries again while the server is away."""
        self.under_way.add(name)
        try:
            with suppress(EngineUnavailableError):
                await self._begin_moved(id, tenant, name)
        finally:
            self.under_way.discard(name)

    async def _begin_moved(self, id: Id, tenant: str, name: str) -> None:
        staged = await self._rows.read(tenant, name)
        if staged is None:
            return
        current = await self._kernel.read(id, Origin(tenant))
        state, command = current.state, staged.command
        assert isinstance(command, ChangeCarrier)
        # Whatever version it has come to: a workflow of this run begins once, and takes the journal as it is.
        if state.carrier_run == command.run and state.status not in ENDED:
            machine = self._kernel.machine(INSTANCE)
            assert isinstance(machine, InstanceMachine)
            begun = Begun(
                instance=id, tenant=tenant, semantics=machine.semantics, version=current.version,
                state=machine.encode(state), definitions=await self._definitions_of(state, tenant),
                certificate=command.certificate, engine=self._engine,
            )  # fmt: skip
            await self._client.begin(command.run, begun)
        await self._rows.drop(tenant, name)

    async def _is_beginning(self, current: Aggregate) -> bool:
        """Whether an instance was moved here and its workflow is still to begin."""
        run = current.state.carrier_run
        return bool(run) and await self._rows.is_open(current.tenant, self._rows.move_name(current.id, run))

    async def _definitions_of(self, state: Instance, tenant: str) -> dict[bytes, bytes]:
        hashes = dict.fromkeys((state.definition, *(past[0] for past in state.past)))
        loaded = {hash: await self._definitions.load(state.process, hash, tenant) for hash in hashes}
        return {hash: canonical(each.deployed.content) for hash, each in loaded.items()}

    # --- starting ------------------------------------------------------------------------------------------------

    async def _start(self, id: Id, origin: Origin, prepared: Prepared) -> Answer:
        command, brought = prepared.command, prepared.attachments or Attachments()
        assert isinstance(command, StartInstance)
        if await self._store.load(id) is not None:
            return Answer(None, "conflict", (), Conflict("idempotency", id_text(id), id))
        if (refused := self._refused(id, command, origin)) is not None:
            raise RejectedError(refused)
        name = self._rows.start_name(id)
        staged = Staged(id, 0, origin, command, brought, command.definition, self._lease.number)
        if await self._rows.write(name, staged) is not None:
            return await self._started_before(id, origin, name)
        return await self._send_start(id, origin, name, command)

    async def _send_start(self, id: Id, origin: Origin, name: str, command: StartInstance) -> Answer:
        self.under_way.add(name)
        try:
            dispatch = await self._dispatch(name, 0, origin, command)
            if await self._carriers.is_of_another(id, self._engine):
                return await self._left_to_another(id, origin.tenant, name)
            try:
                reply = await self._client.start(id, origin.tenant, dispatch, command)
            except WorkflowGone as gone:
                fact = f"Temporal has ended its workflow before our journal knew of it ({gone})"
                hint = "Begin it under another key, or bring the workflow back by a reset in Temporal."
                raise RejectedError(Rejection("wrong_state", "start", "instance", id_text(id), fact, hint)) from gone
            return await self._settled(id, origin, name, True, reply, None) or Answer(
                None, "conflict", (), Conflict("idempotency", id_text(id), id)
            )
        finally:
            self.under_way.discard(name)

    async def _left_to_another(self, id: Id, tenant: str, name: str) -> Answer:
        """Another engine has begun the instance: the first record counts, and a workflow of this start is ended."""
        log.warning("instance %s was begun by another engine meanwhile; its workflow is ended", id_text(id))
        await self._client.end(id, "another engine carries the instance")
        await self._rows.drop(tenant, name)
        return Answer(None, "conflict", (), Conflict("idempotency", id_text(id), id))

    async def _started_before(self, id: Id, origin: Origin, name: str) -> Answer:
        """A start that was kept and perhaps never sent is sent now."""
        staged = await self._rows.read(origin.tenant, name)
        if staged is not None and isinstance(staged.command, StartInstance):
            await self._send_start(id, staged.origin, name, staged.command)
        return Answer(None, "conflict", (), Conflict("idempotency", id_text(id), id))

    def _refused(self, id: Id, command: StartInstance, origin: Origin) -> Rejection | None:
        """The refusal of a start that the machine would refuse: it needs no workflow."""
        machine = self._kernel.machine(INSTANCE)
        assert isinstance(machine, InstanceMachine)
        decision = machine.play(id, None, command, origin, 1, 0.5)
        return decision if isinstance(decision, Rejection) else None

    # --- asking --------------------------------------------------------------------------------------------------

    async def _ask(self, id: Id, origin: Origin, prepare: Preparation | Prepared) -> Answer:
        for _ in range(MAX_LOOKS):
            current = await self._kernel.read(id, origin)
            has_left = current.state.carrier not in ("", self._engine)
            if current.state.status in ENDED or has_left:
                if has_left:
                    await self._carriers.look(id)
                return await self._kernel.ask(INSTANCE, id, origin, prepare)
            prepared = prepare if isinstance(prepare, Prepared) else prepare(current)
            if isinstance(prepared, Rejection):
                raise RejectedError(prepared)
            answer = await self._tried(current, origin, prepared)
            if answer is not None:
                return answer
        raise InvariantBroken("ask", "instance", id_text(id), f"it changed {MAX_LOOKS} times meanwhile")

    async def _tried(self, current: Aggregate, origin: Origin, prepared: Prepared) -> Answer | None:
        """Send a command prepared for the instance as it is; None when the instance has moved on."""
        id, brought, name = current.id, prepared.attachments, self._rows.name(current.id)
        if brought is not None:
            conflict = await self._conflict(origin.tenant, brought) or await self._stage(
                name, current, origin, prepared, brought
            )
            if conflict is not None:
                return Answer(current, "conflict", (), conflict)
        self.under_way.add(name)
        try:
            dispatch = await self._dispatch(name, current.version, origin, prepared.command)
            try:
                reply = await self._asked(id, dispatch, brought, current.state.carrier_run)
            except WorkflowGone as gone:
                return await self._gone(current, origin, name, brought is not None, gone)
            if isinstance(reply, Conflict):
                await self._rows.drop(origin.tenant, name)
                return Answer(current, "conflict", (), reply)
            return await self._settled(id, origin, name, brought is not None, reply, current)
        finally:
            self.under_way.discard(name)

    async def _asked(self, id: Id, dispatch: Dispatch, brought: Attachments | None, run: str) -> Reply | Conflict:
        """The reply; the outcome of a job is sent until somebody answers, because its handler has run."""
        pause = SECOND
        try:
            return await self._client.ask(id, dispatch, run)
        except EngineUnavailableError:
            if not isinstance(dispatch.command, RecordJob | RaiseIncident):
                raise
        while True:
            await self._sources.sleep(pause)
            pause = min(2 * pause, MAX_PAUSE)
            with suppress(EngineUnavailableError):
                return await self._asked_again(id, dispatch, brought, run)

    async def _asked_again(self, id: Id, dispatch: Dispatch, brought: Attachments | None, run: str) -> Reply | Conflict:
        """The reply to a dispatch that may have been decided before.

        One that was not is decided only while the records it changes are as its handler read them.
        """
        if brought is not None and brought.entities:
            known = await self._client.ask(id, replace(dispatch, expected=NOWHERE), run)
            if known.outcome == "decided":
                return known
            if (conflict := await changed_record(self._store, dispatch.origin.tenant, brought.entities)) is not None:
                return conflict
        return await self._client.ask(id, dispatch, run)

    async def _conflict(self, tenant: str, brought: Attachments) -> Conflict | None:
        """The conflict that the commit would meet: a decision must not be taken that cannot be appended whole."""
        row = brought.inbox
        if row is not None and (known := await self._store.message(tenant, row.message_id)) is not None:
            return Conflict("inbox", row.message_id, known.aggregate)
        return await changed_record(self._store, tenant, brought.entities)

    async def _stage(
        self, name: str, current: Aggregate, origin: Origin, prepared: Prepared, brought: Attachments
    ) -> Conflict | None:
        command, worker = prepared.command, self._lease.number
        staged = Staged(current.id, current.version, origin, command, brought, _leads_to(command), worker)
        return await self._rows.write(name, staged)

    async def _gone(
        self, current: Aggregate, origin: Origin, name: str, is_staged: bool, gone: WorkflowGone
    ) -> Answer | None:
        """The workflow does not run: the instance has ended meanwhile, or somebody ended the workflow."""
        if await self._is_beginning(current):
            fact = "its workflow has not begun since it was moved"
            hint = "It begins once the server answers, and what was sent is sent again."
            raise EngineUnavailableError("ask", "engine", self._client.address.text, fact, hint)
        if is_staged:
            await self._rows.drop(origin.tenant, name)
        now = await self._kernel.read(current.id, origin)
        if now.version != current.version or await self._client.is_running(current.id, current.state.carrier_run):
            return None  # it went on meanwhile, perhaps as a new run
        fact = f"its workflow in Temporal is gone ({gone})"
        hint = "Its journal is whole. Start it anew, or bring the workflow back by a reset in Temporal."
        raise RejectedError(Rejection("wrong_state", "ask", "instance", id_text(current.id), fact, hint))

    # --- settling ------------------------------------------------------------------------------------------------

    async def _settled(
        self, id: Id, origin: Origin, name: str, is_staged: bool, reply: Reply, current: Aggregate | None
    ) -> Answer | None:
        """Append what the reply brings and answer; None when the command has to be prepared again."""
        await self._follower.append(id, reply.made)
        if reply.outcome == "decided":
            if current is None and await self._carriers.is_of_another(id, self._engine):
                return await self._left_to_another(id, origin.tenant, name)
            self._carriers.remember(id, self._engine)
            return await self._decided(id, origin, name, reply)
        if reply.outcome == "moved":
            if is_staged and await self._rows.is_open(origin.tenant, name):
                await self._rows.drop(origin.tenant, name)
            return None
        staged = await self._rows.read(origin.tenant, name) if is_staged else None
        if reply.outcome == "refused":
            if is_staged:
                await self._rows.drop(origin.tenant, name)
            assert reply.rejection is not None
            raise RejectedError(reply.rejection)
        brought = staged.brought.arrival() if staged is not None else None
        if is_staged:
            brought = brought or Attachments()
            brought.dispatched = (origin.tenant, name)
        if current is None:
            return None
        quiet = Prepared(reply.answer, brought, Decision((), reply.answer, keeps=True))
        return await self._kernel.ask(INSTANCE, id, origin, quiet)

    async def _decided(self, id: Id, origin: Origin, name: str, reply: Reply) -> Answer:
        aggregate = await self._kernel.read(id, origin)
        own = next((each for each in reply.made if each.dispatch == name), None)
        if own is None:
            return Answer(aggregate, reply.answer)
        if own.refusal is not None:
            raise RejectedError(own.refusal)
        entries = self._kernel.machine(INSTANCE).records.decode(own.record).entries
        return Answer(aggregate, own.answer, entries)

    async def _dispatch(self, name: str, expected: int, origin: Origin, command: Any) -> Dispatch:
        data, hash = b"", _leads_to(command)
        if hash:
            process = command.process if isinstance(command, StartInstance) else ""
            definition = await self._definitions.load(process, hash, origin.tenant)
            data = canonical(definition.deployed.content)
        return Dispatch(id=name, expected=expected, origin=origin, command=command, definition=data)

    # --- giving up ---------------------------------------------------------------------------------------------

    async def is_over(self, id: Id, origin: Origin) -> bool:
        """Whether nothing comes any more of a start that was given up; a workflow that began meanwhile is cancelled."""
        name = self._rows.start_name(id)
        staged = await self._rows.read(origin.tenant, name)
        if staged is None:
            return True
        if name in self.under_way:
            return False
        async with self._turns.setdefault(id, asyncio.Lock()):
            try:
                return await self._cancelled(id, origin, name, staged)
            except WorkflowGone:
                await self._rows.drop(origin.tenant, name)
                return True

    async def _cancelled(self, id: Id, origin: Origin, name: str, staged: Staged) -> bool:
        start = await self._dispatch(name, NOWHERE, staged.origin, staged.command)
        begun = await self._client.ask(id, start)
        cancel = Cancel(reason="its step gave up on the engine")
        dispatch = await self._dispatch(self._rows.name(id), begun.version, origin, cancel)
        reply = await self._client.ask(id, dispatch)
        made = {each.sequence: each for each in (*begun.made, *reply.made)}
        await self._follower.append(id, [made[at] for at in sorted(made)], takes_given_up=reply.outcome == "decided")
        return reply.outcome == "decided"

    # --- recovery ------------------------------------------------------------------------------------------------

    async def resend(self, tenant: str, name: str) -> bool:
        """Send a dispatch again that a process left behind; True when it is over."""
        staged = await self._rows.read(tenant, name)
        if staged is None or name in self.under_way or await self._is_sent_elsewhere(staged.worker):
            return False
        id = Id(staged.instance)
        is_start = isinstance(staged.command, StartInstance)
        if is_start and staged.brought.settles is not None and not await self._carriers.is_of_another(id, self._engine):
            return False  # the notice that asked for it sends it, or gives it up
        async with self._turns.setdefault(id, asyncio.Lock()):
            if not await self._rows.is_open(tenant, name):
                return False
            try:
                return await self._resent(id, name, staged)
            except RejectedError:
                return True

    async def _is_sent_elsewhere(self, worker: int) -> bool:
        """Whether another process is about a dispatch: two would drop it under each other."""
        if worker in (0, self._lease.number):
            return False
        return any(each.number == worker and not each.is_lapsed for each in await self._store.live_workers())

    async def _resent(self, id: Id, name: str, staged: Staged) -> bool:
        if isinstance(staged.command, StartInstance):
            await self._send_start(id, staged.origin, name, staged.command)
            return True
        if isinstance(staged.command, ChangeCarrier) and staged.command.carrier == self._engine:
            await self._begin_moved(id, staged.origin.tenant, name)
            return True
        dispatch = await self._dispatch(name, staged.expected, staged.origin, staged.command)
        run = (await self._kernel.read(id, staged.origin)).state.carrier_run
        try:
            reply = await self._asked_again(id, dispatch, staged.brought, run)
        except WorkflowGone:
            current = await self._kernel.read(id, staged.origin)
            if await self._client.is_running(id, run) or await self._is_beginning(current):
                return False  # a new run has begun, and is asked the next time
            await self._rows.drop(staged.origin.tenant, name)
            return True
        if isinstance(reply, Conflict):
            await self._rows.drop(staged.origin.tenant, name)  # its worker is gone, and the job runs again
            return True
        # What was prepared for an older version and not decided is dropped: whoever asked was told nothing.
        await self._settled(id, staged.origin, name, True, reply, await self._kernel.read(id, staged.origin))
        return True


def _leads_to(command: Any) -> bytes:
    return command.definition if isinstance(command, StartInstance | Migrate) else b""
