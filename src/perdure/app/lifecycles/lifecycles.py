"""Lifecycles of one principal: started, looked at, moved, resolved, migrated and deployed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from perdure.app.lifecycles.lifecycle_verbs import LifecycleVerbs
from perdure.app.lifecycles.status import StatusBuilder, call_text, item_of, task_view
from perdure.app.lifecycles.views import (
    CallText,
    DeployedLifecycle,
    EntryView,
    LifecycleBegun,
    LifecycleDrawing,
    LifecycleFinding,
    LifecycleItem,
    LifecycleStatus,
    LifecycleVersionView,
    MigrationPlan,
    StateView,
    TaskReceipt,
    TransitionAnswer,
)
from perdure.app.quarantine_views import QUARANTINED
from perdure.errors import Problem, RejectedError, Rejection
from perdure.journal import Origin
from perdure.journal.facts import fact_kind
from perdure.kernel.kernel import Aggregate
from perdure.lifecycles.drawing import draw_lifecycle
from perdure.lifecycles.instances import INDEX, KIND
from perdure.lifecycles.kept_facts import read_kept
from perdure.lifecycles.lifecycle_reader import LifecycleFile
from perdure.lifecycles.loader import read_lifecycle
from perdure.lifecycles.machine import commands as c
from perdure.lifecycles.machine.definition import Lifecycle, State
from perdure.lifecycles.machine.definition_machine import LifecycleVersions
from perdure.lifecycles.machine.judgements import names_of
from perdure.lifecycles.machine.lifecycle_machine import status_text
from perdure.lifecycles.machine.names import UnknownName
from perdure.lifecycles.machine.state import Instance
from perdure.lifecycles.ports import FROM_THE_NEWEST
from perdure.lifecycles.task_results import TaskResult, check_result
from perdure.moments import iso
from perdure.payload import digest_text
from perdure.sources import Id, id_text, parse_id
from perdure.verbs.definition import same_verb_name

if TYPE_CHECKING:
    from perdure.app.runtime import Runtime

PAGES_LOOKED_AT = 20
"""How far one look goes for instances behind a blocker."""


SMALL_TEXT = 2000
"""The characters of a lifecycle that is read at once; a longer one is read beside the event loop."""


class CheckedLifecycle(NamedTuple):
    """A lifecycle file with what is to be said about it."""

    file: LifecycleFile
    findings: tuple[Problem, ...]


class _Wanted(NamedTuple):
    """Filters of a list of instances."""

    lifecycle: str
    state: str
    subject: str
    blocker: str

    def fits(self, each: Instance | None) -> bool:
        """What is damaged may be any, but is behind no blocker that is known."""
        if each is None:
            return not self.blocker
        return (
            (not self.lifecycle or each.lifecycle == self.lifecycle)
            and (not self.state or each.state == self.state)
            and (not self.blocker or any(blocked.key == self.blocker for blocked in each.blocked))
        )


class LifecycleOperations:
    """What the operations on lifecycles do, on behalf of one principal."""

    def __init__(self, runtime: Runtime, origin: Origin) -> None:
        self._runtime = runtime
        self._origin = origin
        self._instances = runtime.lifecycles
        self._definitions = runtime.lifecycles.definitions
        self._status = StatusBuilder(runtime.lifecycles, runtime.sources, runtime.deliveries.of_instance)
        self.verbs = LifecycleVerbs(runtime, origin)

    # --- instances -----------------------------------------------------------------------------------------------

    async def start(
        self, lifecycle: str, subject: str, context: Mapping[str, Any], version: int | None
    ) -> LifecycleBegun:
        begun = await self._instances.start(lifecycle, subject, context, self._origin, version)
        return LifecycleBegun(begun.is_new, await self._status.of(begun.aggregate))

    async def show(self, id: str) -> LifecycleStatus:
        return await self._status.of(await self._instances.read(id, self._origin))

    async def draw(self, id: str) -> LifecycleDrawing:
        aggregate, definition = await self.definition_of(id)
        state = aggregate.state.state
        return LifecycleDrawing(id, state, draw_lifecycle(definition, state))

    async def transit(self, id: str, target: str, reason: str) -> TransitionAnswer:
        answer, aggregate = await self._instances.transit(id, target, reason, self._origin)
        answer, *changed = answer.split()
        return TransitionAnswer(answer, await self._status.of(aggregate), changed)

    async def resolution(self, id: str, key: str) -> CallText | None:
        """The call that opens a requirement of the present state; None where its definition names none."""
        aggregate = await self._instances.settle(await self._instances.read(id, self._origin))
        state, material = aggregate.state, await self._instances.material(aggregate)
        requirement = material.definition.requirement(state.state, key)
        if requirement is None or requirement.resolution is None:
            return None
        call = requirement.resolution
        names = names_of(id, state.lifecycle, state.subject, material.context)
        try:
            return call_text(call.verb, call.args, names)
        except UnknownName:
            return CallText(call.verb, call.args, "")

    async def resolve(self, id: str, key: str, verb: str = "") -> LifecycleStatus:
        """Ask for the resolution of a blocker, by that verb and no other where one is named."""
        _, aggregate = await self._instances.request(id, key, self._origin, verb)
        return await self._status.of(aggregate)

    async def action(self, id: str, name: str) -> CallText | None:
        """The call of an action of the present state; None where it has none of that name."""
        aggregate = await self._instances.settle(await self._instances.read(id, self._origin))
        state, material = aggregate.state, await self._instances.material(aggregate)
        action = material.definition.action(f"{state.state}:{name}")
        if action is None:
            return None
        names = names_of(id, state.lifecycle, state.subject, material.context)
        try:
            return call_text(action.verb, action.params, names)
        except UnknownName as unknown:
            fact = f"the context has no '{unknown.name}'"
            raise RejectedError(Rejection("blocked", "do", "action", name[:80], fact)) from None

    async def act(self, id: str, name: str, verb: str = "") -> LifecycleStatus:
        """Do an action, by that verb and no other where one is named."""
        return await self._status.of(await self._instances.act(id, name, self._origin, verb))

    async def cancel(self, id: str, reason: str) -> LifecycleStatus:
        _, aggregate = await self._instances.ask(id, self._origin, c.Cancel(reason=reason))
        return await self._status.of(aggregate)

    async def task_call(self, id: str, number: int) -> tuple[str, dict[str, Any]] | None:
        """The verb of a task with the arguments that its definition gives; None where there is no such task."""
        aggregate = await self._instances.read(id, self._origin)
        task = next((each for each in aggregate.state.tasks if each.number == number), None)
        if task is None:
            return None
        definition = (await self._instances.material(aggregate)).definition
        if task.is_action:
            action = definition.action(task.key)
            return task.verb, action.params if action is not None else {}
        requirement = definition.requirement(aggregate.state.state, task.key)
        resolution = requirement.resolution if requirement is not None else None
        return task.verb, resolution.args if resolution is not None else {}

    async def retry(self, id: str, number: int) -> LifecycleStatus:
        return await self._status.of(await self._instances.retry(id, number, self._origin))

    async def dismiss(self, id: str, number: int, reason: str) -> LifecycleStatus:
        _, aggregate = await self._instances.ask(id, self._origin, c.DismissTask(number=number, reason=reason))
        return await self._status.of(aggregate)

    async def look(self, id: str) -> LifecycleStatus:
        _, aggregate = await self._instances.ask(id, self._origin, c.LookAgain())
        return await self._status.of(aggregate)

    async def receive(self, result: TaskResult) -> TaskReceipt:
        await self._check_brought(result)
        check_result(result, self._origin.tenant)
        receipt = await self._instances.receive(result, self._origin)
        state: Instance = receipt.aggregate.state
        task = state.task(result.correlation_id)
        assert task is not None
        return TaskReceipt(
            receipt.answer, result.correlation_id, task_view(task), id_text(receipt.aggregate.id), state.state
        )

    async def _check_brought(self, result: TaskResult) -> None:
        """Refuse a result of what people or a process decide: that is the answer of their call, and of nobody else."""
        aggregate = await self._instances.holder(result.correlation_id, self._origin)
        task = aggregate.state.task(result.correlation_id)
        if task is not None and result.verb and same_verb_name(result.verb) != same_verb_name(task.verb):
            fact = f"it is one of '{task.verb}', not of '{result.verb[:80]}'"
            hint = "Name the verb that asked for it, or none."
            raise RejectedError(Rejection("invalid", "complete", "task", result.correlation_id[:200], fact, hint))
        verb = self._runtime.catalogue.find(task.verb) if task is not None and task.is_open else None
        how = verb.definition.execution if verb is not None else None
        if how is not None and (how.task is not None or how.process is not None):
            fact = f"'{verb.name if verb is not None else ''}' is decided by {'people' if how.task else 'its process'}"
            hint = "Complete the task that it opened." if how.task else "Its process ends it."
            raise RejectedError(
                Rejection("forbidden", "complete", "task", result.correlation_id[:200], fact, hint)
            )  # fmt: skip

    async def page(
        self, lifecycle: str, state: str, subject: str, before: str, limit: int, blocker: str = ""
    ) -> tuple[list[LifecycleItem], str | None]:
        """Instances, newest first; by subject and by state only within a lifecycle.

        A page by blocker may hold fewer than were asked for while there are more to look through.
        """
        if (state or subject) and not lifecycle:
            fact = "a state and a subject are looked for within a lifecycle"
            raise RejectedError(Rejection("invalid", "list", "lifecycles", "", fact, "Name the lifecycle as well."))
        place: bytes = parse_id(before, "lifecycle") if before else FROM_THE_NEWEST
        wanted = _Wanted(lifecycle, state, subject, blocker)
        found: list[tuple[Id, Instance | None]] = []
        for _ in range(PAGES_LOOKED_AT if blocker else 1):
            rows = await self._rows(wanted, place, limit)
            found += [each for each in rows if wanted.fits(each[1])]
            if len(rows) < limit:
                return [self._item(*each) for each in found[:limit]], _next(found, limit)
            place = rows[-1][0]
            if len(found) >= limit:
                break
        items = [self._item(*each) for each in found[:limit]]
        return items, _next(found, limit) or id_text(place)

    def _item(self, id: Id, state: Instance | None) -> LifecycleItem:
        """An instance in a list; a damaged one says so, and hides none of the others."""
        if state is None:
            return LifecycleItem(id_text(id), "", 0, "", "", QUARANTINED, "", [], False)
        item = item_of(id, state)
        is_damaged = self._runtime.store.set_aside.find(id) is not None
        return msgspec.structs.replace(item, status=QUARANTINED) if is_damaged else item

    async def _rows(self, wanted: _Wanted, place: bytes, limit: int) -> list[tuple[Id, Instance | None]]:
        store, tenant, lifecycle = self._runtime.store, self._origin.tenant, wanted.lifecycle
        if wanted.subject:
            rows = await store.indexed(tenant, INDEX, lifecycle, wanted.subject, place, limit, has_damaged=True)
        else:
            status = status_text(lifecycle, wanted.state) if wanted.state else ""
            rows = await store.aggregates(tenant, KIND, status, place, limit, has_damaged=True)
        machine = self._runtime.machines[KIND]
        return [(row.id, machine.decode(row.state) if row.state else None) for row in rows]

    async def history(self, id: str, after: int, limit: int) -> tuple[list[EntryView], int | None]:
        """Entries of the journal after a record, oldest first; whole records, at least one."""
        aggregate = await self._instances.read(id, self._origin)
        codec = self._runtime.machines[KIND].records
        found: list[EntryView] = []
        async for row in self._runtime.store.history(aggregate, after):
            record = codec.decode(row.body)
            for entry in record.entries:
                data: dict[str, Any] = {name: _shown(getattr(entry, name)) for name in entry.__struct_fields__}
                if "facts" in data:
                    data["facts"] = await self._facts(aggregate, getattr(entry, "facts", b""))
                found.append(
                    EntryView(row.sequence, iso(record.at) or "", record.principal, type(entry).__name__, data)
                )
            if len(found) >= limit:
                return found, row.sequence if row.sequence < aggregate.version else None
        return found, None

    async def _facts(self, aggregate: Aggregate, hash: bytes) -> list[dict[str, Any]]:
        """The facts behind the hash of an entry, of a record its version and which fields; none once erased."""
        if not hash or aggregate.state.is_erased:
            return []
        facts = read_kept(await self._runtime.store.payload(aggregate.id, hash))
        return [{"key": key, "value": _without_data(key, value)} for key, value in facts.items()]

    async def migrate(self, id: str, version: int | None, state: str, reason: str, is_dry: bool) -> MigrationPlan:
        """Go on under another version, in the state of the same name unless another is said."""
        aggregate = await self._instances.read(id, self._origin)
        before: Instance = aggregate.state
        if before.is_over:
            fact = f"it is {before.status}"
            raise RejectedError(Rejection("wrong_state", "migrate", "lifecycle", id, fact))
        chosen = await self._definitions.choose(before.lifecycle, version, self._origin, "migrate")
        target = chosen.definition.state(state or before.state)
        if target is None:
            fact = f"version {chosen.number} has no state '{state or before.state}'"
            names = ", ".join(each.name for each in chosen.definition.states)
            hint = f"Say which of its states stands for it: {names}."
            raise RejectedError(Rejection("invalid", "migrate", "lifecycle", id, fact, hint))
        plan = MigrationPlan(
            id, before.number, chosen.number, before.state, target.name,
            [each.correlation_id for each in before.open_tasks()], [each.key for each in target.requirements],
            not is_dry,
        )  # fmt: skip
        if is_dry:
            return plan
        material = await self._instances.material(aggregate)
        moved = msgspec.structs.replace(material, definition=chosen.definition, hash=chosen.hash)
        command = c.Migrate(
            material=moved, before=material.definition, before_hash=material.hash, number=chosen.number,
            state=target.name, reason=reason,
        )  # fmt: skip
        answer, _ = await self._instances.ask(id, self._origin, command)
        return msgspec.structs.replace(plan, is_done=(done := answer in ("migrated", "replayed")), is_proposed=not done)

    # --- definitions ---------------------------------------------------------------------------------------------

    async def definitions(self) -> list[LifecycleVersionView]:
        return [view for each in await self._definitions.all(self._origin) for view in await self._versions(each)]

    async def checked(self, text: str, file: str) -> CheckedLifecycle:
        """A lifecycle file, read and checked beside the event loop."""
        table, check = self._instances.machine.table, self._definitions.findings

        def work() -> CheckedLifecycle:
            read = read_lifecycle(text, file, table)
            return CheckedLifecycle(read, check(read))

        is_small = len(text) <= SMALL_TEXT
        return await self._runtime.computations.run(self._origin.tenant, work, is_small=is_small)

    async def deploy(self, found: CheckedLifecycle) -> DeployedLifecycle:
        deployed = await self._definitions.deploy(found.file, self._origin, found.findings)
        return DeployedLifecycle(
            deployed.lifecycle, deployed.number, deployed.hash, deployed.is_new, [finding(e) for e in deployed.findings]
        )

    async def retire(self, lifecycle: str, version: int, reason: str) -> list[LifecycleVersionView]:
        return await self._versions(await self._definitions.retire(lifecycle, version, self._origin, reason))

    async def _versions(self, state: LifecycleVersions) -> list[LifecycleVersionView]:
        load, tenant = self._definitions.load, self._origin.tenant
        found = [await load(state.lifecycle, each.hash, tenant) for each in state.versions]
        return version_views(state, found)

    async def definition(self, lifecycle: str, version: int | None) -> Lifecycle:
        return (await self._definitions.choose(lifecycle, version, self._origin, "find")).definition

    async def definition_of(self, id: str) -> tuple[Aggregate, Lifecycle]:
        """An instance with the definition it is pinned to."""
        aggregate = await self._instances.read(id, self._origin)
        return aggregate, (await self._instances.material(aggregate)).definition

    async def definition_of_task(self, correlation_id: str) -> tuple[Aggregate, Lifecycle]:
        """The instance that has a pending task, with the definition it is pinned to."""
        aggregate = await self._instances.holder(correlation_id, self._origin)
        return aggregate, (await self._instances.material(aggregate)).definition


def _next(found: list[tuple[Id, Instance | None]], limit: int) -> str | None:
    """The place behind the last one shown where more were found than are shown."""
    return id_text(found[limit - 1][0]) if len(found) > limit else None


def version_views(state: LifecycleVersions, definitions: list[Lifecycle]) -> list[LifecycleVersionView]:
    latest = state.latest()
    return [
        LifecycleVersionView(
            state.lifecycle, each.number, each.label, digest_text(each.hash), each.status, iso(each.at) or "", each.by,
            latest is not None and each.number == latest.number, [state_view(one) for one in definition.states],
        )
        for each, definition in zip(state.versions, definitions, strict=True)
    ]  # fmt: skip


def state_view(state: State) -> StateView:
    return StateView(state.name, state.description, state.is_terminal, [each.key for each in state.requirements])


def finding(problem: Problem) -> LifecycleFinding:
    return LifecycleFinding(problem.code, problem.severity, problem.line, problem.column, problem.reason, problem.hint)


def _without_data(key: str, value: Any) -> Any:
    """Who may look at a lifecycle may not look at every record."""
    if fact_kind(key) != "record" or not isinstance(value, Mapping):
        return value
    return {"version": value["version"], "fields": list(value["fields"])}


def _shown(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, msgspec.Struct):
        return {name: _shown(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, tuple):
        return [_shown(each) for each in value]
    return value
