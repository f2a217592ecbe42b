"""Instance changes: cancel, suspend, resume, modify, migrate, migrate back and erase."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from perdure.agent_usage import Budget
from perdure.bpmn.machine.aggregate_ids import child_id
from perdure.bpmn.machine.call_activity_flags import CALLER_SUSPENDED, is_held_by_caller
from perdure.bpmn.machine.commands import Cancel, Erase, Migrate, Modify, NoteOnTask, Resume, SetBudget, Suspend
from perdure.bpmn.machine.overrides import CARRIES_A_STEP
from perdure.bpmn.machine.state import ENDED, ROOT, Instance, Watch
from perdure.engine import Flags, InstanceName, MigrationPlan, Move, NewVerb
from perdure.engines.embedded.instances.instances import Instances, Make
from perdure.engines.embedded.jobs.missing_handlers import PLATFORM
from perdure.errors import QuarantinedError, RejectedError, Rejection
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Prepared
from perdure.kernel.ports import PENDING, Attachments, InboxRow
from perdure.overrides import Guard
from perdure.payload import canonical, digest, digest_text
from perdure.processes.called_process_tasks import tasks_below, tasks_lost
from perdure.processes.instance_reader import instance_id
from perdure.processes.payload_merge import Change
from perdure.processes.plan_cache import Definition
from perdure.runbooks.machine.runbook_machine import NOTICE
from perdure.sources import Id, id_text, iso

HOLD = "hold"
"""The notice that what a suspended instance calls is to be suspended as well."""


class InstanceChanges:
    """Each is one command, journalled with who asked and why."""

    def __init__(self, instances: Instances) -> None:
        self._instances = instances

    async def cancel(
        self, instance: InstanceName, origin: Origin, *, reason: str = "", compensate: bool = False,
        brought: Attachments | None = None,
    ) -> Aggregate:  # fmt: skip
        """Stop; what was done stays done unless it is asked to be undone.

        With `brought`, the notice that the work it belongs to has ended, it follows that.
        """
        follows = brought is not None
        unseen = () if follows else await self._called_tasks(instance, origin)

        def make(aggregate: Aggregate) -> Prepared:
            worker = self._instances.worker_of(aggregate)
            command = Cancel(reason=reason, compensates=compensate, worker=worker, follows=follows, unseen=unseen)
            return Prepared(command, brought)

        return await self._told(instance, origin, make)

    async def _called_tasks(self, instance: InstanceName, origin: Origin) -> tuple[Guard, ...]:
        """Tasks of the instances that one called which carries a step."""
        found = await self._instances.read(instance, origin)
        if found.state.status in ENDED or not found.state.parent.startswith(CARRIES_A_STEP):
            return ()
        return await tasks_below(self._instances.reader, found, (ROOT,), (), origin)

    async def suspend(self, instance: InstanceName, origin: Origin, *, reason: str = "") -> Aggregate:
        """Let nothing happen to it, nor to the processes it calls; asked again, it reaches what it missed."""
        is_own = reason != CALLER_SUSPENDED
        for_itself = is_own and await self.is_held(instance, origin)

        def make(aggregate: Aggregate) -> Prepared:
            return Prepared(Suspend(reason=reason, for_itself=for_itself), self._reminder(aggregate))

        held = await self._told(instance, origin, make)
        if is_own and not for_itself and await self.is_held(instance, origin):
            return await self.suspend(instance, origin, reason=reason)  # what called it was suspended just before it
        for child in called_by(held):
            with suppress(RejectedError, QuarantinedError):  # it has not begun, is over, or cannot be read
                await self.suspend(child, origin, reason=CALLER_SUSPENDED)
        return held

    def _reminder(self, aggregate: Aggregate) -> Attachments | None:
        """A notice that outlives this process: what is called and not reached now, because it is just beginning, is."""
        if aggregate.state.status == "suspended" or not called_by(aggregate):
            return None
        name = f"{NOTICE}{id_text(aggregate.id)}/hold/{aggregate.version}"
        now = self._instances.sources.now()
        return Attachments(inbox=InboxRow(aggregate.tenant, name, HOLD, "", now, PENDING, "", aggregate.id, None))

    async def is_held(self, instance: InstanceName, origin: Origin) -> bool:
        """Whether it is suspended only because what called it is."""
        found = await self._instances.read(instance, origin)
        if found.state.status != "suspended" or not found.state.parent.startswith("node:"):
            return False
        told = await self._instances.history(instance, origin)
        return is_held_by_caller(entry for each in told for entry in each.entries)

    async def resume(self, instance: InstanceName, origin: Origin, *, shift_timers: bool = False) -> Aggregate:
        """Go on; what fell due meanwhile fires now, unless every timer is shifted by the time suspended.

        The processes it calls go on as well, but for those that were suspended for themselves. They are first, so that
        it can be asked again when it was cut off, and looked at after it once more for those that began just now.
        """

        def make(aggregate: Aggregate) -> Prepared:
            timers = "shift" if shift_timers else "keep"
            return Prepared(Resume(timers=timers, worker=self._instances.worker_of(aggregate)))  # type: ignore[arg-type]

        await self.resume_called(await self._instances.read(instance, origin), origin, shift_timers)
        resumed = await self._told(instance, origin, make)
        await self.resume_called(resumed, origin, shift_timers)
        return resumed

    async def resume_called(self, caller: Aggregate, origin: Origin, shift_timers: bool = False) -> None:
        """Let the processes it calls go on, but for those that were suspended for themselves."""
        for child in called_by(caller):
            with suppress(RejectedError, QuarantinedError):  # it has not begun, goes on already, or cannot be read
                if await self.is_held(child, origin):
                    await self.resume(child, origin, shift_timers=shift_timers)

    async def set_budget(
        self, instance: InstanceName, origin: Origin, declared: Budget, wanted: Budget, *, loosens: bool, reason: str
    ) -> Aggregate:
        """Set what all agents of it may use; whatever waits for that goes on."""

        def make(aggregate: Aggregate) -> Prepared:
            return Prepared(SetBudget(
                declared=declared, max_tokens=wanted.max_tokens, max_cost=wanted.max_cost, loosens=loosens,
                reason=reason, worker=self._instances.worker_of(aggregate),
            ))  # fmt: skip

        return await self._told(instance, origin, make)

    async def modify(
        self, instance: InstanceName, origin: Origin, *, cancel: Sequence[int] = (), start: Sequence[str] = (),
        flags: Flags | None = None, data: Mapping[str, Any] | None = None, reason: str = "",
    ) -> Aggregate:  # fmt: skip
        cancels, starts = tuple(cancel), tuple(start)
        before = await self._instances.read(instance, origin)
        unseen = await tasks_below(self._instances.reader, before, cancels, starts, origin, flags)

        def make(aggregate: Aggregate) -> Prepared:
            written = self._written(aggregate, data, origin) if data else None
            command = Modify(
                cancels=cancels, starts=starts, flags=dict(flags or {}), reason=reason,
                worker=self._instances.worker_of(aggregate), unseen=unseen,
                head=written[0] if written is not None else b"", by=origin.principal if written is not None else "",
                change=digest(canonical(dict(data))) if data else b"",
            )  # fmt: skip
            return Prepared(command, Attachments(payloads=[written] if written is not None else []))

        return await self._told(instance, origin, make)

    async def note_on_task(
        self, instance: InstanceName, origin: Origin, node: int, data: Mapping[str, Any]
    ) -> Aggregate:  # fmt: skip
        """Keep in the data where an open task is shown outside. Nothing else of it changes."""

        def make(aggregate: Aggregate) -> Prepared:
            definition, state, at = (
                self._instances.definition(aggregate),
                aggregate.state,
                self._instances.sources.now(),
            )
            key = f"note {node}"
            change = Change(
                dict(data), "note", key, iso(at) or "", origin.principal, (), None, definition.deployed.merge
            )
            budget = self._instances.budget(definition)
            written = self._instances.payloads.seal_change(aggregate.id, state.head, change, budget)
            command = NoteOnTask(node=node, head=written[0], by=origin.principal)
            return Prepared(command, Attachments(payloads=[written]))

        return await self._told(instance, origin, make)

    def _written(self, aggregate: Aggregate, data: Mapping[str, Any], origin: Origin) -> tuple[bytes, bytes]:
        """The payload with fields that somebody sets by hand; what the verb of the process declares still holds."""
        instances, state = self._instances, aggregate.state
        definition = instances.definition(aggregate)
        verb = instances.conductor.catalogue.find(definition.deployed.verb) if definition.deployed.verb else None
        if verb is not None:
            verb.check_carried(data, origin.principal)
        at = iso(instances.sources.now()) or ""
        key = f"by hand {origin.principal}"
        change = Change(dict(data), "by hand", key, at, origin.principal, (), None, definition.deployed.merge)
        return instances.payloads.seal_change(aggregate.id, state.head, change, instances.budget(definition))

    async def erase(self, instance: InstanceName, origin: Origin, reason: str) -> str:
        """Remove the data of an ended instance; its history stays and still verifies."""
        id = instance_id(instance)
        prepared = Prepared(Erase(reason=reason), Attachments(erases=True))
        answer = await self._instances.ask(id, origin, prepared)
        self._instances.payloads.forget(id)
        await self._instances.store.erase_around(origin.tenant, id, is_recent=origin.principal != PLATFORM)
        return answer.answer

    # --- migrating -----------------------------------------------------------------------------------------------

    async def migrate(
        self,
        instance: InstanceName,
        origin: Origin,
        *,
        process: str = "",
        version: int | None = None,
        mapping: Mapping[str, str] | None = None,
        flags: Mapping[str, str] | None = None,
        reason: str = "",
        dry_run: bool = False,
    ) -> MigrationPlan:
        """Go on under another version, the latest unless one is named; `dry_run` only says what would happen."""
        aggregate = await self._instances.read(instance, origin)
        state: Instance = aggregate.state
        target = process or state.process
        found = await self._instances.definitions.choose(target, version, origin, "migrate to")
        definition = await self._instances.definitions.load(target, found.hash, origin.tenant)
        command = Migrate(
            definition=found.hash, version=found.number, mapping=dict(mapping or {}), flags=dict(flags or {}),
            reason=reason, worker=self._instances.worker(definition),
            agreed=(await self._instances.definitions.consequences.of_deployment(definition.deployed, origin)).tier,
        )  # fmt: skip
        return await self._migrate(aggregate, command, definition, found.number, origin, dry_run)

    async def migrate_back(
        self, instance: InstanceName, origin: Origin, *, reason: str = "", dry_run: bool = False
    ) -> MigrationPlan:
        """To the definition before the last migration, by the inverse of its mapping."""
        aggregate = await self._instances.read(instance, origin)
        state: Instance = aggregate.state
        if not state.past:
            fact = "it was never migrated"
            raise RejectedError(Rejection("wrong_state", "migrate back", "instance", id_text(aggregate.id), fact))
        hash, number, mapping = state.past[-1]
        definition = await self._instances.definitions.load(state.process, hash, origin.tenant)
        command = Migrate(
            definition=hash, version=number, mapping={new: old for old, new in mapping.items()},
            reason=reason, worker=self._instances.worker(definition),
        )  # fmt: skip
        return await self._migrate(aggregate, command, definition, number, origin, dry_run, default_reason="back")

    async def _migrate(
        self, aggregate: Aggregate, command: Migrate, definition: Definition, number: int, origin: Origin, is_dry: bool,
        default_reason: str = "",
    ) -> MigrationPlan:  # fmt: skip
        was, reader = await self._instances.loaded(aggregate), self._instances.reader
        before: Instance = aggregate.state
        tried = self._instances.machine.tried(before, command, self._instances.sources.now())
        if isinstance(tried, Rejection):
            raise RejectedError(replace(tried, id=id_text(aggregate.id)))
        unseen = await tasks_lost(reader, aggregate, tried.lost, origin)
        around = dict.fromkeys(guard.name for guard in (*unseen, *tried.guards))
        command = replace(command, unseen=unseen, reason=command.reason or ("" if around else default_reason))
        after = tried.state
        if not is_dry:
            answer = await self._instances.ask(aggregate.id, origin, Prepared(command))
            assert answer.aggregate is not None
            after = answer.aggregate.state
        plan = MigrationPlan(
            id_text(aggregate.id), definition.deployed.process.id, number, digest_text(definition.hash), is_dry=is_dry,
            goes_around=tuple(around),
        )  # fmt: skip
        return replace(_differences(plan, before, after), new_verbs=tuple(_new_verbs(was, definition, before, after)))

    async def _told(self, instance: InstanceName, origin: Origin, make: Make) -> Aggregate:
        answer = await self._instances.ask(instance_id(instance), origin, make)
        assert answer.aggregate is not None
        return answer.aggregate


def called_by(caller: Aggregate) -> list[Id]:
    """The instances that call activities of an instance have begun, or will."""
    state: Instance = caller.state
    calls = [node.number for node in state.nodes.values() if node.kind == "call"]
    return [child_id(caller.tenant, f"node:{id_text(caller.id)}:{number}") for number in calls]


def _differences(plan: MigrationPlan, before: Instance, after: Instance) -> MigrationPlan:
    moves = tuple(
        Move(number, node.element, after.nodes[number].element if number in after.nodes else "")
        for number, node in sorted(before.nodes.items())
        if node.parent
    )
    kept = [watch for number, watch in sorted(after.watches.items()) if _is_kept(before.watches.get(number), watch)]
    numbers = {watch.number for watch in kept}
    return replace(
        plan,
        moves=moves,
        kept_timers=tuple(watch.event for watch in kept if watch.kind == "timer"),
        kept_messages=tuple(watch.event for watch in kept if watch.kind != "timer"),
        ended_waits=tuple(each.event for number, each in sorted(before.watches.items()) if number not in numbers),
        new_waits=tuple(each.event for number, each in sorted(after.watches.items()) if number not in numbers),
    )


def _new_verbs(was: Definition, will: Definition, before: Instance, after: Instance) -> Iterator[NewVerb]:
    for number, node in sorted(before.nodes.items()):
        job, moved = node.job, after.nodes.get(number)
        if job is None or moved is None:
            continue
        type = will.type_of(replace(moved, job=job))
        if (type, will.plan.definition(type)) != (job.type, job.definition):
            is_running = job.status == "leased"
            yield NewVerb(number, moved.element, was.verb_name(job.type), will.verb_name(type), is_running)


def _is_kept(before: Watch | None, after: Watch) -> bool:
    return before is not None and (before.kind, before.key, before.due) == (after.kind, after.key, after.due)
