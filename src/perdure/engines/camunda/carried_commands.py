"""Carried commands: a command is decided for the instance as our journal has it, asked of Camunda, and then appended.

| command | what happens |
|---|---|
| it moves a token in Camunda | its requests are kept and sent, one dispatch of it at a time; then it is appended |
| it moves none (leases, notes, halves of answers) | it is appended |
| a fact from Camunda's log | it is appended under its place in that log |
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.bpmn.machine.jobs import UNCAUGHT
from perdure.bpmn.machine.state import ENDED, Failure, Instance
from perdure.engines.camunda.definition_deployment import DefinitionDeployment
from perdure.engines.camunda.dispatch_rows import DispatchRows, Staged
from perdure.engines.camunda.engine_requests import Payload, first_variables
from perdure.engines.camunda.exported_records import Fact
from perdure.engines.camunda.instance_turns import LOOK, RACE_SECONDS, InstanceTurns
from perdure.engines.camunda.key_rows import KeyRows
from perdure.engines.camunda.movable_state import start_elements
from perdure.engines.camunda.request_preparation import RequestPreparation
from perdure.engines.camunda.rest_client import Gone, Refused, RestClient, WrongState
from perdure.engines.camunda.wire import Request, instance_key, number
from perdure.engines.decided_elsewhere import changed_record, rebased, without_rows
from perdure.engines.embedded.ports import EngineStore
from perdure.engines.instance_carrier import EMBEDDED, InstanceCarriers
from perdure.errors import DefinitionError, EngineUnavailableError, InvariantBroken, RejectedError, Rejection
from perdure.journal import NO_ROWS, Decision, Origin, SourcePosition, Written, genesis
from perdure.kernel.kernel import Aggregate, Answer, Kernel, Preparation, Prepared
from perdure.kernel.ports import Attachments, Conflict
from perdure.payload import digest_text
from perdure.processes.instance_reader import InstanceReader
from perdure.sources import SECOND, Id, Sources, id_text
from perdure.work.agents.questions import UNASKED
from perdure.work.process_lease import Lease

MAX_LOOKS = 64
MAX_REBASED = 64
MAX_PAUSE = 10 * SECOND
EXPLAINED_SECONDS = 2.0
"""How long a fact may be on its way that says why something which was sent before is not there any more."""
LOCAL = (
    c.LeaseJob, c.NoteFailedCorrelation, c.NoteOnTask, c.Erase, c.FireTimer, c.EndCall, c.Escalate,
)  # fmt: skip
"""Commands that move no token in Camunda, or that it has moved already."""
REFUSED = (c.Suspend, c.Resume, c.Modify)
log = logging.getLogger("perdure")


class Moved(Exception):
    """The instance is at another version than the one it was looked at."""


class CarriedCommands:
    """The way of commands to the instances of one engine."""

    def __init__(
        self, reader: InstanceReader, store: EngineStore, rows: DispatchRows, keys: KeyRows,
        deployment: DefinitionDeployment, client: RestClient, carriers: InstanceCarriers, lease: Lease,
        sources: Sources, waits: Sources,
    ) -> None:  # fmt: skip
        kernel: Kernel = reader.kernel
        self._kernel = kernel
        self._reader = reader
        self._store = store
        self._rows = rows
        self.keys = keys
        self._deployment = deployment
        self._client = client
        self._lease = lease
        self._sources = sources
        self._waits = waits
        self._carriers = carriers
        self._turns = InstanceTurns(waits)
        self._requests = RequestPreparation(reader, keys, deployment, self._turns, waits)
        machine = kernel.machine(INSTANCE)
        assert isinstance(machine, InstanceMachine)
        self._machine = machine
        self.under_way: set[str] = set()
        """Names of dispatches that this process is sending."""

    # --- the port ------------------------------------------------------------------------------------------------

    async def start(self, kind: str, id: Id, origin: Origin, prepared: Prepared) -> Answer:
        async with self.turn(id):
            return await self._start(id, origin, prepared)

    async def ask(self, kind: str, id: Id, origin: Origin, prepare: Preparation | Prepared) -> Answer:
        async with self.turn(id):
            return await self._ask(id, origin, prepare)

    def turn(self, id: Id) -> asyncio.Lock:
        return self._turns.of(id)

    # --- starting ------------------------------------------------------------------------------------------------

    async def _start(self, id: Id, origin: Origin, prepared: Prepared) -> Answer:
        command, brought = _without_worker(prepared.command), prepared.attachments or Attachments()
        if await self._store.load(id) is not None:
            return _begun(id)
        self._check_tenant(command, origin)
        await self._check_portable(command, origin)
        decision = self._machine.play(id, None, command, origin, self._sources.now(), 0.5)
        if isinstance(decision, Rejection):
            raise RejectedError(decision)
        payload = self._requests.payload(id, command.head, brought)
        assert payload is not None
        first = next(entry for entry in decision.entries if isinstance(entry, e.InstanceStarted))
        request = Request("POST", "/process-instances", {"variables": first_variables(first.flags, payload)})
        staged = Staged(id, 1, origin, command, brought, (request,), self._lease.number)
        if await self._rows.write(staged, payload.hash):
            return await self._send_start(staged)
        known = await self._rows.read(origin.tenant, self._rows.name(id, 1))
        if known is not None:
            await self._send_start(known)
        return _begun(id)

    def _check_tenant(self, command: c.StartInstance, origin: Origin) -> None:
        ours = self._client.address.tenant
        if origin.tenant != ours:
            fact = f"the engine carries tenant '{ours}' only, and this is '{origin.tenant}'"
            hint = "Names and keys of messages are one space in Camunda: give each tenant a cluster of its own."
            raise RejectedError(Rejection("blocked", "start", "process", command.process, fact, hint))

    async def _check_portable(self, command: c.StartInstance, origin: Origin) -> None:
        """Refuse what Camunda cannot carry: it may have been deployed when another engine was chosen for it."""
        try:
            await self._deployment.check(command.process, command.definition, origin.tenant)
        except DefinitionError as error:
            fact = f"its engine '{self.keys.engine}' cannot carry it: {error.problems[0].reason}"
            hint = "Choose another engine for the process, or change it."
            raise RejectedError(Rejection("blocked", "start", "process", command.process, fact, hint)) from error

    async def _send_start(self, staged: Staged) -> Answer:
        """Begin the process instance, bind it to ours, and append: whoever is bound first counts, others are twins."""
        id, command = Id(staged.instance), staged.command
        assert isinstance(command, c.StartInstance)
        if await self.is_foreign(id):
            return await self._left_to_another(staged)
        bound = await self.keys.key_of(id)
        if not bound:
            definition = await self._deployment.key(command.process, command.definition, staged.origin.tenant)
            request = staged.requests[0]
            body = {**request.body, "processDefinitionKey": number(definition)}
            made = instance_key(await self._sent_start(Request(request.method, request.path, body), command))
            bound = await self.keys.bind(id, made)
            if bound != made:
                await self.cancel_twin(made)
        if await self._store.load(id) is not None:
            if await self.is_foreign(id):
                return await self._left_to_another(staged)
            await self._rows.drop(staged.origin.tenant, id, 1)
            return _begun(id)
        staged.brought.dispatched = (staged.origin.tenant, self._rows.name(id, 1))
        answer = await self._append_first(id, staged.origin, command, staged.brought)
        if answer.conflict is None:
            self._carriers.remember(id, self.keys.engine)
            self._rows.done(id, 1)
        return answer

    async def is_foreign(self, id: Id) -> bool:
        """Whether another engine has begun an instance: the first record of our journal counts."""
        return await self._carriers.is_of_another(id, self.keys.engine)

    async def _left_to_another(self, staged: Staged) -> Answer:
        """A process instance of a start that another engine has begun is cancelled."""
        id = Id(staged.instance)
        if bound := await self.keys.key_of(id):
            await self.cancel_twin(bound)
        await self._rows.drop(staged.origin.tenant, id, 1)
        return _begun(id)

    async def _sent_start(self, request: Request, command: c.StartInstance) -> dict[str, Any]:
        try:
            return await self._client.send(request)
        except (Gone, WrongState, Refused) as error:
            fact = f"Camunda refuses it: {error}"
            raise RejectedError(Rejection("invalid", "start", "process", command.process, fact)) from error

    async def cancel_twin(self, key: str) -> None:
        """A process instance that another one stands for already: it does nothing."""
        log.warning("Process instance %s is a second one for the same start, and is cancelled.", key)
        try:
            await self._client.send(Request("POST", f"/process-instances/{key}/cancellation", {}))
        except (Gone, WrongState):
            return

    async def _append_first(self, id: Id, origin: Origin, command: Any, brought: Attachments) -> Answer:
        empty = Aggregate(id, origin.tenant, INSTANCE, 0, None, genesis(origin.tenant, INSTANCE, id), NO_ROWS)
        made = self._sourced(empty, origin, command, brought, self._rows.source(1), 0)
        assert isinstance(made, Prepared)
        return await self._kernel.start(INSTANCE, id, origin, made)

    # --- asking --------------------------------------------------------------------------------------------------

    async def _ask(self, id: Id, origin: Origin, prepare: Preparation | Prepared) -> Answer:
        for _ in range(MAX_LOOKS):
            current = await self._kernel.read(id, origin)
            if current.state.status in ENDED or current.state.carrier not in ("", self.keys.engine):
                return await self._kernel.ask(INSTANCE, id, origin, prepare)
            if current.state.carrier_run:
                await self._begin_moved(id, origin.tenant, self._rows.move_name(id, current.state.carrier_run))
            prepared = prepare if isinstance(prepare, Prepared) else prepare(current)
            if isinstance(prepared, Rejection):
                raise RejectedError(prepared)
            answer = await self._tried(current, origin, prepared)
            if answer is not None:
                return answer
        raise InvariantBroken("ask", "instance", id_text(id), f"it changed {MAX_LOOKS} times meanwhile")

    async def _tried(self, current: Aggregate, origin: Origin, prepared: Prepared) -> Answer | None:
        """Decide a command and have Camunda do it; None when the instance has moved on."""
        id, command, brought = current.id, _without_worker(prepared.command), prepared.attachments
        if isinstance(command, c.LeaseJob) and await self._is_held_up(command, id, origin):
            return None
        if isinstance(command, LOCAL):
            here = self._here(current, origin, command, brought, prepared.due)
            return await self._kernel.ask(INSTANCE, id, origin, here)
        if isinstance(command, REFUSED):
            fact = f"its engine cannot {type(command).__name__.lower()}"
            raise RejectedError(Rejection("blocked", "ask", "instance", id_text(id), fact))
        if brought is not None and (conflict := await self._conflict(origin.tenant, brought)) is not None:
            return Answer(current, "conflict", (), conflict)
        command, decision = self._decided(current, command, origin)
        requests = await self._requests.of(current, command, decision, brought)
        if not requests:
            return await self._kernel.ask(INSTANCE, id, origin, self._here(current, origin, command, brought))
        if not await self._is_our_turn(id, origin):
            return None
        return await self._dispatched(current, origin, command, brought or Attachments(), requests)

    def _here(
        self, current: Aggregate, origin: Origin, command: Any, brought: Attachments | None, due: int = 0
    ) -> Preparation | Prepared:
        """A command that moves no token there. Of an instance that was moved, our machine decides nothing unasked."""
        if not current.state.carrier:
            return Prepared(command, brought, due=due)

        def prepare(now: Aggregate) -> Prepared:
            at, chance = self._sources.now(), self._sources.random()
            return Prepared(command, brought, self._machine.play(now.id, now.state, command, origin, at, chance), due)

        return prepare

    def _decided(self, current: Aggregate, command: Any, origin: Origin) -> tuple[Any, Decision]:
        """What the machine makes of a command; Camunda undoes a whole instance for nobody, so a person is asked."""
        command = carried_command(command)
        decision = self._played(current, command, origin)
        if any(isinstance(entry, e.CompensationStarted) for entry in decision.entries):
            if not isinstance(command, c.RecordJob):
                fact = "its engine cannot compensate a whole instance"
                raise RejectedError(Rejection("blocked", "ask", "instance", id_text(current.id), fact))
            command = _as_incident(current.state, command)
            decision = self._played(current, command, origin)
        return command, decision

    def _played(self, current: Aggregate, command: Any, origin: Origin) -> Decision:
        now, chance = self._sources.now(), self._sources.random()
        decision = self._machine.play(current.id, current.state, command, origin, now, chance)
        if isinstance(decision, Rejection):
            raise RejectedError(decision)
        return decision

    async def _conflict(self, tenant: str, brought: Attachments) -> Conflict | None:
        """The conflict that the commit would meet: Camunda must not do what cannot be appended whole."""
        row = brought.inbox
        if row is not None and (known := await self._store.message(tenant, row.message_id)) is not None:
            return Conflict("inbox", row.message_id, known.aggregate)
        return await changed_record(self._store, tenant, brought.entities)

    async def _is_our_turn(self, id: Id, origin: Origin) -> bool:
        """Whether no dispatch of the instance is open; one that a process left behind is sent first."""
        next_number = await self._rows.next_number(id, origin.tenant)
        staged = await self._rows.read(origin.tenant, self._rows.name(id, next_number))
        if staged is None:
            return True
        if self._rows.name(id, next_number) in self.under_way or await self._is_elsewhere(staged):
            await self._has_moved(await self._kernel.read(id, origin), LOOK)
        else:
            await self._resent(staged)
        return False

    async def _is_held_up(self, lease: c.LeaseJob, id: Id, origin: Origin) -> bool:
        """Whether an open dispatch goes before a lease: an outcome whose worker died on the way (Camunda may have
        it), and a move, which a leased job refuses although Camunda has let the instance go."""
        staged = await self._rows.next_open(origin.tenant, id)
        if staged is None or not (lease.abandoned or isinstance(staged.command, c.ChangeCarrier)):
            return False
        return not await self._is_our_turn(id, origin)

    async def _dispatched(
        self, current: Aggregate, origin: Origin, command: Any, brought: Attachments, requests: tuple[Request, ...]
    ) -> Answer | None:
        id, mine = current.id, await self._rows.next_number(current.id, origin.tenant)
        staged = Staged(id, mine, origin, command, brought, requests, self._lease.number)
        if not await self._rows.write(staged):
            self._rows.forget(id)
            await self._waits.sleep(LOOK)
            return None
        if isinstance(command, c.ChangeCarrier) and (await self._kernel.read(id, origin)).version != current.version:
            await self._rows.drop(origin.tenant, id, mine)  # a job was leased before whoever leases could see it
            return None
        return await self._sent(staged, current)

    async def _sent(self, staged: Staged, current: Aggregate, *, is_again: bool = False) -> Answer | None:
        """Send a dispatch and append its decision; None when Camunda has nothing to do it to any more."""
        id, origin, name = Id(staged.instance), staged.origin, self._rows.name(Id(staged.instance), staged.number)
        self.under_way.add(name)
        try:
            for at, request in enumerate(staged.requests):
                await self._insisted(request, staged.command, current, is_again=is_again or at > 0)
        except Gone as gone:
            if not isinstance(staged.command, c.RaiseIncident):
                await self._rows.drop(origin.tenant, id, staged.number)
                await self._explained(current, gone)
                return None
        except (WrongState, Refused) as error:
            await self._rows.drop(origin.tenant, id, staged.number)
            is_state = isinstance(error, WrongState)
            fact = f"Camunda {'has it in another state' if is_state else 'refuses it'}: {error}"
            raise self._rejected(id, "wrong_state" if is_state else "invalid", fact) from error
        finally:
            self.under_way.discard(name)
        staged.brought.dispatched = (origin.tenant, name)
        answer = await self._append_dispatch(staged)
        self._rows.done(id, staged.number)
        return answer

    async def _append_dispatch(self, staged: Staged) -> Answer:
        """Append the decision of a dispatch unless another process did: its row is settled in the same commit."""
        id, origin, name = Id(staged.instance), staged.origin, self._rows.name(Id(staged.instance), staged.number)
        while True:
            current = await self._kernel.read(id, origin)
            if not await self._rows.is_open(origin.tenant, name):
                return Answer(await self._kernel.read(id, origin), "applied")
            try:
                source = self._rows.source(staged.number)
                return await self.append(id, origin, staged.command, staged.brought, source, at_version=current.version)
            except Moved:
                continue

    async def _insisted(self, request: Request, command: Any, current: Aggregate, *, is_again: bool) -> None:
        """Send. The outcome of a job is sent until somebody answers, because its handler has run; a message until its
        wait is open in Camunda, which happens a moment after its token has come there."""
        pause, until = SECOND, self._waits.monotonic() + int(RACE_SECONDS * SECOND)
        while True:
            try:
                await self._check_taker(current.id, command, await self._client.send(request))
                return
            except EngineUnavailableError:
                if not isinstance(command, c.RecordJob | c.RaiseIncident):
                    raise
            except Gone as gone:
                is_again = is_again or gone.is_repeated
                if request.is_once or self._waits.monotonic() >= until:
                    if is_again and not await self._moves(current, EXPLAINED_SECONDS):
                        return  # it was done when it was sent before
                    raise
                if await self._has_moved(current, LOOK):
                    raise
                continue
            is_again = True
            await self._waits.sleep(pause)
            pause = min(2 * pause, MAX_PAUSE)

    async def _check_taker(self, id: Id, command: Any, answer: dict[str, Any]) -> None:
        """A message is taken by whoever waits longest in the cluster: by none but ours, unless stores share it."""
        taker = instance_key(answer) if isinstance(command, c.Correlate) else ""
        if taker and taker != await self.keys.key_of(id):
            raise Refused(f"process instance {taker} took the message, and is not this one")

    async def _has_moved(self, current: Aggregate, pause: int) -> bool:
        """Whether the instance has gone on after a pause, in which facts about it may be appended."""
        await self._turns.away(current.id, pause)
        return (await self._kernel.read(current.id, Origin(current.tenant))).version != current.version

    async def _explained(self, current: Aggregate, gone: Gone) -> None:
        """A lost race: what moved the token is told in Camunda's log, and whoever asked is asked again after it."""
        if not await self._moves(current, RACE_SECONDS):
            raise self._rejected(current.id, "wrong_state", f"Camunda does not have it any more: {gone}")

    async def _moves(self, current: Aggregate, seconds: float) -> bool:
        """Whether the instance goes on within some seconds."""
        until = self._waits.monotonic() + int(seconds * SECOND)
        while self._waits.monotonic() < until:
            if await self._has_moved(current, LOOK):
                return True
        return False

    def _rejected(self, id: Id, code: Any, fact: str) -> RejectedError:
        log.warning("Instance %s: %s", id_text(id), fact)
        hint = "Look at the process instance in Operate; what was asked can be asked again."
        return RejectedError(Rejection(code, "ask", "instance", id_text(id), fact, hint))

    # --- appending -----------------------------------------------------------------------------------------------

    async def append(
        self, id: Id, origin: Origin, command: Any, brought: Attachments | None, source: SourcePosition, at: int = 0,
        at_version: int = 0,
    ) -> Answer:  # fmt: skip
        """Append what the machine makes of something that Camunda has done; Moved when it is at another version."""

        def prepare(current: Aggregate) -> Prepared | Rejection:
            if at_version and current.version != at_version:
                raise Moved
            return self._sourced(current, origin, command, brought, source, at)

        answer = await self._kernel.ask(INSTANCE, id, origin, prepare)
        for _ in range(MAX_REBASED):
            if answer.conflict is None or brought is None:
                break
            if answer.conflict.what == "entity":
                brought.entities = await rebased(self._store, origin.tenant, brought.entities)
            else:
                brought = without_rows(brought)
            answer = await self._kernel.ask(INSTANCE, id, origin, prepare)
        return answer

    def _sourced(
        self, current: Aggregate, origin: Origin, command: Any, brought: Attachments | None, source: SourcePosition,
        at: int,
    ) -> Prepared | Rejection:  # fmt: skip
        machine, now = self._machine, max(self._sources.now(), at)
        decision = machine.play(current.id, current.state, command, origin, now, self._sources.random())
        if isinstance(decision, Rejection):
            return decision
        if not decision.entries:
            return Prepared(command, brought, decision)
        record = machine.records.encode_sourced(now, type(command).__name__, origin, tuple(decision.entries), source)
        state = current.state
        for entry in decision.entries:
            state = machine.apply(state, entry)
        written = Written(machine.encode(state), record, None, True)
        made = Decision(
            tuple(decision.entries), decision.answer, decision.keeps, state, refusal=decision.refusal, written=written
        )  # fmt: skip
        return Prepared(command, brought, made)

    async def fact(self, id: Id, origin: Origin, command: Any, fact: Fact) -> Answer:
        """Append what a fact from Camunda's log leads to, once; the caller has the turn."""
        row = self.keys.row(f"fact/{fact.name}", id_text(id), self._sources.now())
        brought = Attachments(inbox=row._replace(tenant=origin.tenant))
        source = SourcePosition(self.keys.engine, fact.partition, fact.position)
        return await self.append(id, origin, command, brought, source, fact.at * 1000)

    async def is_told(self, fact: Fact, tenant: str) -> bool:
        """Whether a fact was appended before."""
        return await self._store.message(tenant, self.keys.name(f"fact/{fact.name}")) is not None

    async def has_open(self, id: Id, origin: Origin) -> bool:
        """Whether a dispatch of an instance is open: asked of Camunda, and not appended yet."""
        number = await self._rows.next_number(id, origin.tenant)
        return await self._rows.is_open(origin.tenant, self._rows.name(id, number))

    async def resolved_there(self, id: Id, origin: Origin, node: int) -> None:
        """An incident that is open here was resolved in Camunda: its job has come again. One that was resolved from
        here is over as soon as whoever did it gives the turn away."""
        command = c.RetryIncident(node=node, reason="resolved in Camunda")
        async with self.turn(id):
            current = await self._kernel.read(id, origin)
            found = current.state.nodes.get(node)
            if found is not None and found.incident is not None:
                await self._kernel.ask(INSTANCE, id, origin, self._here(current, origin, command, None))

    # --- what comes from another engine --------------------------------------------------------------------------

    async def begin_moved(self, id: Id, tenant: str, run: str) -> None:
        """Begin an instance that was moved here; recovery tries again while nobody answers."""
        async with self.turn(id):
            with suppress(EngineUnavailableError):
                await self._begin_moved(id, tenant, self._rows.move_name(id, run))

    async def _begin_moved(self, id: Id, tenant: str, name: str) -> None:
        staged = await self._rows.read(tenant, name)
        if staged is None:
            return
        self.under_way.add(name)
        try:
            await self._begin_there(id, tenant)
        except (Gone, WrongState, Refused, DefinitionError) as error:
            await self._come_back(id, staged, name, error)
            raise self._rejected(id, "blocked", f"Camunda does not begin it there: {error}") from error
        finally:
            self.under_way.discard(name)
        await self._rows.settle(tenant, name)

    async def _begin_there(self, id: Id, tenant: str) -> None:
        """A process instance that begins where the tokens stand, with the payload and all flags as they are."""
        if await self.keys.key_of(id):
            return
        state: Instance = (await self._kernel.read(id, Origin(tenant))).state
        data = await self._store.payload(id, state.head) or b"{}"
        payload = Payload(data.decode("utf-8", "surrogateescape"), digest_text(state.head))
        await self.keys.write((f"head/{payload.hash}", id_text(id)))  # its first job tells whose it is
        body = {
            "processDefinitionKey": number(await self._deployment.key(state.process, state.definition, tenant)),
            "variables": first_variables(state.flags, payload),
            "startInstructions": [{"elementId": element} for element in start_elements(state)],
        }
        made = instance_key(await self._client.send(Request("POST", "/process-instances", body)))
        if await self.keys.bind(id, made) != made:
            await self.cancel_twin(made)

    async def _come_back(self, id: Id, staged: Staged, name: str, error: Exception) -> None:
        """Nothing was decided since the record of the move: our kernel goes on, by another one."""
        assert isinstance(staged.command, c.ChangeCarrier)
        command = replace(staged.command, carrier=EMBEDDED, reason=f"Camunda does not begin it there: {error}")
        now, chance = self._sources.now(), self._sources.random()

        def prepare(current: Aggregate) -> Prepared:
            decision = self._machine.play(id, current.state, command, staged.origin, now, chance)
            return Prepared(command, Attachments(dispatched=(staged.origin.tenant, name)), decision)

        await self._kernel.ask(INSTANCE, id, staged.origin, prepare)
        self._carriers.remember(id, "")

    # --- recovery ------------------------------------------------------------------------------------------------

    async def is_over(self, id: Id, origin: Origin) -> bool:
        """Whether nothing comes any more of a start that was given up; what began meanwhile is cancelled there."""
        name = self._rows.name(id, 1)
        if not await self._rows.is_open(origin.tenant, name):
            return True
        async with self.turn(id):
            if bound := await self.keys.key_of(id):
                await self.cancel_twin(bound)
            await self._rows.drop(origin.tenant, id, 1)
        return True

    async def is_given_up(self, id: Id, origin: Origin) -> bool:
        """Whether an instance was never begun here, and will not be: its step gave up before Camunda answered."""
        if await self._store.load(id) is not None or await self._rows.is_open(origin.tenant, self._rows.name(id, 1)):
            return False
        return await self._store.load(id) is None

    async def resend(self, tenant: str, name: str) -> bool:
        """Send a dispatch again that a process left behind; True when it is over."""
        staged = await self._rows.read(tenant, name)
        if staged is None:
            return True
        id = Id(staged.instance)
        is_start = isinstance(staged.command, c.StartInstance)
        if is_start and staged.brought.settles is not None and not await self.is_foreign(id):
            return False  # the notice that asked for it sends it, or gives it up
        if self.turn(id).locked() or name in self.under_way or await self._is_elsewhere(staged):
            return False
        async with self.turn(id):
            staged = await self._rows.read(tenant, name)
            if staged is not None and name not in self.under_way:
                await self._resent(staged)
            return True

    async def _is_elsewhere(self, staged: Staged) -> bool:
        """Whether another process that is alive sends a dispatch."""
        if staged.worker in (0, self._lease.number):
            return False
        return any(each.number == staged.worker and not each.is_lapsed for each in await self._store.live_workers())

    async def _resent(self, staged: Staged) -> None:
        id = Id(staged.instance)
        try:
            if isinstance(staged.command, c.StartInstance):
                await self._send_start(staged)
                return
            if isinstance(staged.command, c.ChangeCarrier) and staged.command.carrier == self.keys.engine:
                await self._begin_moved(id, staged.origin.tenant, self._rows.move_name(id, staged.command.run))
                return
            current = await self._kernel.read(id, staged.origin)
            await self._sent(staged, current, is_again=True)
        except RejectedError as error:
            log.warning("A dispatch that was left behind led to nothing: %s", error)
            if staged.number and await self._rows.is_open(staged.origin.tenant, self._rows.name(id, staged.number)):
                await self._rows.drop(staged.origin.tenant, id, staged.number)


def _begun(id: Id) -> Answer:
    return Answer(None, "conflict", (), Conflict("idempotency", id_text(id), id))


def _without_worker(command: Any) -> Any:
    """Jobs come from Camunda: no command but a lease begins one in the same decision."""
    if isinstance(command, c.LeaseJob) or not getattr(command, "worker", 0):
        return command
    return replace(command, worker=0)


def carried_command(command: Any) -> Any:
    """A job of Camunda becomes no person's task and waits for nobody: what its agent asks or lacks is a fault."""
    if not isinstance(command, c.RecordJob):
        return command
    if isinstance(command.outcome, c.JobHolds) and command.outcome.after_seconds is None:
        fault = Failure("permanent_business", command.outcome.code, command.outcome.text)
        return replace(command, outcome=c.JobFault(fault))
    if not isinstance(command.outcome, c.JobAsks):
        return command
    text = (
        "Its agent asks a person, and Camunda keeps no job for that. Let the graph end with what is open, and lead to "
        "a user task of the model; or run the process on another engine."
    )
    fault = command.outcome.unless or Failure("permanent_contract", UNASKED, text)
    return replace(command, outcome=c.JobFault(fault))


def _as_incident(state: Instance, command: c.RecordJob) -> c.RaiseIncident:
    """A business error that nothing catches: the embedded engine would undo the instance, Camunda cannot."""
    node = state.nodes[command.node]
    failure = command.outcome.failure if isinstance(command.outcome, c.JobFault) else None
    words = f"'{failure.code}': {failure.message}" if failure is not None else "an error"
    text = (
        f"The business error {words} of '{node.element}' is caught by no event, and Camunda does not undo what was "
        "done before it. Model a boundary error event, or resolve it by hand."
    )
    return c.RaiseIncident(
        node=command.node, code=UNCAUGHT, text=text, attempt=command.attempt, job_worker=command.job_worker
    )
