"""The step launcher: ready steps get arguments, locks and process, and begin together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import msgspec

from perdure.errors import (
    FencedError,
    PayloadTooLargeError,
    QuarantinedError,
    RejectedError,
    Rejection,
    SchemaViolationError,
)
from perdure.human_tasks import ShownDocuments, documents_in
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Answer, Kernel, Prepared
from perdure.kernel.ports import Attachments, IndexRow
from perdure.payload import Cargo
from perdure.runbooks.executor.plan_cache import AbsentError, PlanCache, course_of
from perdure.runbooks.executor.step_arguments import (
    LackingError,
    UnresolvedError,
    arguments,
    holds,
    known_arguments,
    locks,
)
from perdure.runbooks.machine import commands as c
from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.dag_progress import needed_by
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.runbooks.machine.state import Links, Pin, Runbook, Step, links_of
from perdure.sources import Id, Sources, id_text
from perdure.verbs import Verb
from perdure.work.store_retry import retry_until_stored

KIND = RunbookMachine.kind
PLATFORM = "perdure"
AT_ONCE = 128
"""How many steps one command begins."""
MISFIT = "arguments.invalid"
TAKEN = "correlation.taken"
RELEASING = (
    e.StepCompleted, e.StepFailed, e.StepParked, e.StepSkipped, e.StepCancelled, e.CallCancelled, e.IncidentRaised,
)  # fmt: skip


class Known(msgspec.Struct):
    """What was read for one look at steps: results, and the processes that carry durable verbs."""

    values: dict[bytes, Any] = {}
    pins: dict[str, Pin | None] = {}


class Beginning(msgspec.Struct, frozen=True):
    """How a step begins, and what that brings along."""

    launch: c.Launch
    payloads: list[tuple[bytes, bytes]] = []
    index: list[IndexRow] = []


class PinWantedError(Exception):
    """The process of a durable verb has not been looked up yet."""

    def __init__(self, verb: Verb) -> None:
        super().__init__(verb.name)
        self.verb = verb


class StepHost(Protocol):
    """What launching needs of the conductor."""

    kernel: Kernel

    @property
    def number(self) -> int: ...
    def serves(self, name: str, version: int | None = None, definition: bytes = b"") -> Verb | None: ...
    def has_step(self, verb: Verb) -> bool: ...
    def incoming(self, verb: Verb, args: dict[str, Any]) -> Cargo: ...
    def park(self, verb: Verb, args: Any, id: Id, carrier: Pin | None = None, step: int = 1) -> c.Park: ...
    def submit(self, name: Any, work: Any) -> None: ...
    def index_rows(self, verb: Verb, value: Any) -> list[IndexRow]: ...
    async def carrier(self, verb: Verb, origin: Origin) -> Pin | None: ...
    async def claim_early(self, answer: Answer) -> None: ...
    async def holder(self, verb: Verb, key: str, origin: Origin, id: Id) -> bytes | None: ...
    def taken(self, verb: Verb, key: str, holder: bytes | None) -> Rejection: ...


class Launcher:
    """Of one process. Whatever it leaves ready is found by others, as the row of a job nobody holds."""

    def __init__(self, works: StepHost, documents: PlanCache, sources: Sources) -> None:
        self._works = works
        self._kernel = works.kernel
        self._documents = documents
        self._sources = sources
        machine = works.kernel.machine(KIND)
        assert isinstance(machine, RunbookMachine)
        self._machine = machine
        self._awake: dict[bytes, bool] = {}
        """Runbooks this process sees to, and whether there was something new since it last looked."""
        self._woken = 0
        self._blocked: dict[bytes, set[tuple[Id, str]]] = {}
        self.shown_documents: ShownDocuments | None = None
        self._kernel.hear((e.StepReady,), self._on_ready)
        self._kernel.hear(RELEASING, self._on_release)

    # --- advancing -----------------------------------------------------------------------------------------------

    def _on_ready(self, aggregate: Aggregate, entry: e.StepReady) -> None:
        if aggregate.state.course is not None and aggregate.state.steps[entry.step - 1].status == "ready":
            self.wake(aggregate.id, aggregate.tenant)

    def _on_release(self, aggregate: Aggregate, entry: Any) -> None:
        if self._blocked:
            for id, tenant in self._blocked.pop(aggregate.id, ()):
                self.wake(id, tenant)

    def wake(self, id: Id, tenant: str) -> None:
        """See to what is ready, soon; once however often it is said."""
        if not self._works.number:
            return
        if id in self._awake:
            self._awake[id] = True
            return
        self._awake[id] = True
        self._woken += 1
        self._works.submit((id, 0, self._woken, self._works.number), lambda: self._advance(id, tenant))

    async def _advance(self, id: Id, tenant: str) -> None:
        origin = Origin(tenant, PLATFORM)
        try:
            while self._awake[id]:
                self._awake[id] = False
                await retry_until_stored(lambda: self._launch_ready(id, origin), self._sources)
        except (FencedError, QuarantinedError, RejectedError):
            return  # another process goes on with it, or it is set aside
        finally:
            del self._awake[id]

    async def _launch_ready(self, id: Id, origin: Origin) -> int:
        """Begin what can begin here, a batch at a time. Returns how many did."""
        begun, seen = 0, set[int]()
        while True:
            aggregate = await self._kernel.recall(id, origin)
            course = aggregate.state.course
            ready = [each for each in course.ready if each not in seen][:AT_ONCE] if course is not None else []
            if not ready:
                return begun
            seen.update(ready)
            begun += await self._launch(aggregate, ready)

    async def launch(self, id: Id, step: int, tenant: str) -> bool:
        """Begin one ready step, if it can begin here and now."""
        aggregate = await self._kernel.read(id, Origin(tenant, PLATFORM))
        course = aggregate.state.course
        return course is not None and step in course.ready and await self._launch(aggregate, [step]) > 0

    async def _launch(self, aggregate: Aggregate, numbers: Iterable[int]) -> int:
        made = [await self._agreed(aggregate, await self._beginning(aggregate, number)) for number in numbers]
        return await self._commit(aggregate, self._free(aggregate, [each for each in made if each is not None]))

    async def _commit(self, aggregate: Aggregate, beginnings: list[Beginning]) -> int:
        while beginnings:
            brought = Attachments()
            for each in beginnings:
                _bring(brought, each)
            command = c.LaunchSteps(self._works.number, tuple(each.launch for each in beginnings))
            origin = Origin(aggregate.tenant, PLATFORM)
            answer = await self._kernel.ask(KIND, aggregate.id, origin, Prepared(command, brought))
            if answer.conflict is None:
                if any(isinstance(each.launch.outcome, c.Park) and each.launch.outcome.key for each in beginnings):
                    await self._works.claim_early(answer)
                if answer.answer == "leased":
                    return len(beginnings)
                # One of them was begun by somebody else: those that were not begin by themselves.
                alone = [await self._commit(aggregate, [each]) for each in beginnings] if len(beginnings) > 1 else []
                return sum(alone)
            beginnings = self._without(aggregate, beginnings, answer.conflict.key, answer.conflict.holder)
        return 0

    def _free(self, aggregate: Aggregate, beginnings: list[Beginning]) -> list[Beginning]:
        """Those that hold nobody's lock in this runbook up; the others wait for their turn."""
        taken = set(course_of(aggregate.state).locks)
        free = []
        for each in beginnings:
            if taken.isdisjoint(each.launch.locks):
                taken.update(each.launch.locks)
                free.append(each)
            else:
                self._await(aggregate, aggregate.id)
        return free

    def _without(
        self, aggregate: Aggregate, beginnings: list[Beginning], key: str, holder: bytes | None
    ) -> list[Beginning]:
        """After somebody else turned out to hold a key: without the steps that need it."""
        kept: list[Beginning] = []
        for each in beginnings:
            launch = each.launch
            if key in launch.locks:
                self._await(aggregate, holder or aggregate.id)
            elif isinstance(launch.outcome, c.Park) and launch.outcome.key == key:
                step = aggregate.state.steps[launch.step - 1]
                kept.append(self._misfit(launch.step, TAKEN, _taken_text(step, key, holder)))
            else:
                kept.append(each)
        return kept if len(kept) < len(beginnings) or kept != beginnings else []

    def _await(self, aggregate: Aggregate, holder: bytes) -> None:
        self._blocked.setdefault(holder, set()).add((aggregate.id, aggregate.tenant))

    # --- one step ------------------------------------------------------------------------------------------------

    async def _beginning(self, aggregate: Aggregate, number: int) -> Beginning | None:
        state, known = aggregate.state, Known()
        origin = Origin(aggregate.tenant, state.principal, state.trace, behind=state.behind)
        while True:
            try:
                found = self.beginning(aggregate.id, state, number, known)
            except AbsentError as absent:
                await self._read(aggregate, absent.hash, known)
                continue
            except PinWantedError as wanted:
                try:
                    known.pins[wanted.verb.content_hash] = await self._works.carrier(wanted.verb, origin)
                except RejectedError as error:
                    return self._misfit(number, "process.missing", str(error))
                continue
            return await self._unless_taken(aggregate, found, origin) if found is not None else None

    async def _agreed(self, aggregate: Aggregate, found: Beginning | None) -> Beginning | None:
        """A beginning with the documents that its arguments refer to, where somebody agreed to the step."""
        if found is None or not links_of(aggregate.state.steps[found.launch.step - 1]).agreed_on:
            return found
        documents = await self._documents_of(aggregate.tenant, found)
        return msgspec.structs.replace(found, launch=msgspec.structs.replace(found.launch, documents=documents))

    async def documents_at(self, aggregate: Aggregate, number: int) -> bytes:
        """The hash of the documents that the arguments of a step refer to, as it would begin now."""
        if self.shown_documents is None or aggregate.state.erased_at:
            return b""
        if not links_of(aggregate.state.steps[number - 1]).gated_at:
            return b""
        return await self._documents_of(aggregate.tenant, await self._beginning(aggregate, number))

    async def _documents_of(self, tenant: str, found: Beginning | None) -> bytes:
        if self.shown_documents is None or found is None or not found.payloads:
            return b""
        data = found.payloads[0][1]

        async def read() -> Any:
            return msgspec.json.decode(data)

        return await self.shown_documents(tenant, read)

    async def _read(self, aggregate: Aggregate, hash: bytes, known: Known) -> None:
        if any(hash == each.document for each in course_of(aggregate.state).fragments):
            await self._documents.read(aggregate, hash)
        else:
            known.values[hash] = await self._documents.value_of(aggregate, hash)

    async def _unless_taken(self, aggregate: Aggregate, found: Beginning, origin: Origin) -> Beginning:
        """A key that somebody waits under is seen before a handler has told anyone outside."""
        step = aggregate.state.steps[found.launch.step - 1]
        verb = self._works.serves(step.verb, step.version, step.definition) if step.verb else None
        if verb is None or not verb.is_durable or verb.execution.is_shared or found.launch.outcome is not None:
            return found
        args = msgspec.json.decode(found.payloads[0][1])
        key = self._works.park(verb, args, aggregate.id, None, found.launch.step).key
        holder = await self._works.holder(verb, key, origin, aggregate.id) if key else None
        if holder is None:
            return found
        return self._misfit(found.launch.step, TAKEN, self._works.taken(verb, key, holder).sentence())

    def beginning(self, id: Id, state: Runbook, number: int, known: Known) -> Beginning | None:
        """How a ready step begins, from what is known; None where this process has not what its verb needs."""
        step = state.steps[number - 1]
        if not step.verb:
            return self._choice(state, number, known)
        verb = self._works.serves(step.verb, step.version, step.definition)
        if verb is None:
            return None
        try:
            args, lacks = self._arguments(state, number, step, verb, known)
            if lacks and (missing := [each for each in verb.input.schema.get("required", ()) if each in lacks]):
                raise LackingError(missing)
            cargo = self._works.incoming(verb, args)
            plan = self._documents.step(state, number)
            held = locks(plan.writes if plan is not None else verb.definition.writes, cargo.value)
            outcome = None if self._works.has_step(verb) else self._park(verb, cargo.value, id, number, known)
        except LackingError as lacking:
            return Beginning(c.Launch(number, outcome=c.Lacking(str(lacking))))
        except UnresolvedError as error:
            return self._misfit(number, MISFIT, f"Step '{links_of(step).name}' cannot be asked: {error}.")
        except (SchemaViolationError, PayloadTooLargeError) as error:
            return self._misfit(number, MISFIT, str(error))
        if outcome is None:
            self._documents.keep_input(cargo.hash, cargo.data)
        launch = c.Launch(number, cargo.hash, outcome, () if outcome is not None else held)
        return Beginning(launch, [(cargo.hash, cargo.data)], self._works.index_rows(verb, cargo.value))

    @staticmethod
    def _misfit(number: int, code: str, text: str) -> Beginning:
        return Beginning(c.Launch(number, outcome=c.Misfit(code, text[:2000])))

    def _park(self, verb: Verb, args: Any, id: Id, number: int, known: Known) -> c.Park:
        pin = None
        if verb.execution.process:
            if verb.content_hash not in known.pins:
                raise PinWantedError(verb)
            pin = known.pins[verb.content_hash]
        return self._works.park(verb, args, id, pin, number)

    def _choice(self, state: Runbook, number: int, known: Known) -> Beginning:
        plan = self._documents.step(state, number)
        assert plan is not None and plan.condition is not None
        try:
            side = holds(plan.condition, self._value_of(state, links_of(state.steps[number - 1]), known))
        except UnresolvedError as error:
            return self._misfit(number, MISFIT, f"The condition '{plan.name}' cannot be told: {error}.")
        return Beginning(c.Launch(number, outcome=c.Chosen(side)))

    def _arguments(
        self, state: Runbook, number: int, step: Step, verb: Verb, known: Known
    ) -> tuple[dict[str, Any], frozenset[str]]:
        """The arguments of a step, and the names of those that have no value yet."""
        links = links_of(step)
        plan = self._documents.step(state, number)
        if plan is not None:
            return arguments(plan, self._value_of(state, links, known)), frozenset()
        offered = self._offered(state, links, known)
        taken = {name: offered[name] for name in verb.input.properties if name in offered}
        if links.undoes or links.decides:
            return taken, frozenset()
        args, lacks = self._asked_again(state, step, known)
        return {**taken, **args}, lacks

    def _asked_again(self, state: Runbook, step: Step, known: Known) -> tuple[dict[str, Any], frozenset[str]]:
        """What a decision that a resume asks again is asked with: its own arguments, as far as there are results."""
        for number in range(len(state.steps), 0, -1):
            asked = state.steps[number - 1]
            plan = self._documents.step(state, number) if asked.verb == step.verb else None
            if plan is not None:
                return known_arguments(plan, self._value_of(state, links_of(asked), known))
        return {}, frozenset()

    def _offered(self, state: Runbook, links: Links, known: Known) -> dict[str, Any]:
        """What a step the runbook added by itself may take: of what it undoes, or of what it decides about."""
        if links.undoes:
            undone = state.steps[links.undoes - 1]
            result = self._value(undone.result, known)
            return {**self._value(undone.input, known), **(result if isinstance(result, dict) else {})}
        about = links.decides or (links.after[0] if links.after else 0)
        if not about:
            return {}
        step = state.steps[about - 1]
        error = step.error
        told = {"code": error.code, "error": error.message, "failure_class": error.kind} if error is not None else {}
        return {"step": links_of(step).name, "verb": step.verb, **told}

    def _value_of(self, state: Runbook, links: Links, known: Known) -> Any:
        """Results by name; of several bindings of one name, that of the one that ran."""
        numbers: dict[str, int] = {}
        for number in needed_by(links):
            step = state.steps[number - 1]
            name = links_of(step).name
            if name not in numbers or step.status == "completed":
                numbers[name] = number

        def value_of(name: str) -> Any:
            step = state.steps[numbers[name] - 1]
            if step.result is None:
                raise UnresolvedError(f"'{name}' has no result")
            return self._value(step.result, known)

        return value_of

    def _value(self, hash: bytes | None, known: Known) -> Any:
        if hash is not None and hash in known.values:
            return known.values[hash]
        return self._documents.value(hash)

    # --- in the same commit --------------------------------------------------------------------------------------

    def together(
        self, id: Id, state: Runbook | None, command: Any, origin: Origin, brought: Attachments, known: Known
    ) -> Prepared:
        """The command with the launches of whatever it makes ready, as far as memory suffices.

        Left out is whatever others may hold: it would take the command down with it.
        """
        if not command.worker:
            command = msgspec.structs.replace(command, worker=self._works.number)
        together = msgspec.structs.replace(brought, payloads=[*brought.payloads], index=[*brought.index])

        def begin(current: Runbook, ready: list[int]) -> tuple[c.Launch, ...]:
            found = [self._quietly(id, current, number, known) for number in ready[:AT_ONCE]]
            beginnings = [each for each in found if each is not None]
            for each in beginnings:
                _bring(together, each)
            return tuple(each.launch for each in beginnings)

        sources = self._sources
        decision = self._machine.decide_and_begin(id, state, command, origin, sources.now(), sources.random(), begin)
        return Prepared(command, together, decision, undecided=brought)

    def _quietly(self, id: Id, state: Runbook, number: int, known: Known) -> Beginning | None:
        try:
            found = self.beginning(id, state, number, known)
        except (AbsentError, PinWantedError):
            return None
        if found is None or found.launch.locks or isinstance(found.launch.outcome, c.Misfit):
            return None
        if documents_in(links_of(state.steps[number - 1]).agreed_on):
            return None  # whether they are what was agreed to is looked up first
        outcome = found.launch.outcome
        if isinstance(outcome, c.Park):
            return None if outcome.key and not outcome.is_shared else found
        step = state.steps[number - 1]
        verb = self._works.serves(step.verb, step.version, step.definition) if step.verb else None
        is_unsure = verb is not None and verb.is_durable and verb.execution.correlation_key != "$step_id"
        return None if is_unsure else found

    async def foresee(self, aggregate: Aggregate, step: int) -> Known:
        """What the steps that hang on one will need besides its result."""
        state, known = aggregate.state, Known()
        origin = Origin(aggregate.tenant, state.principal, state.trace, behind=state.behind)
        links = state.steps[step - 1].links
        for number in (links.dependents if links is not None else ())[:AT_ONCE]:
            dependent = state.steps[number - 1]
            if links_of(dependent).unmet != 1:
                continue
            await self._foresee(aggregate, number, step, known, origin)
        return known

    async def _foresee(self, aggregate: Aggregate, number: int, step: int, known: Known, origin: Origin) -> None:
        state = aggregate.state
        for needed in needed_by(links_of(state.steps[number - 1])):
            result = state.steps[needed - 1].result
            if needed != step and result is not None and result not in known.values:
                known.values[result] = await self._documents.value_of(aggregate, result)
        dependent = state.steps[number - 1]
        verb = self._works.serves(dependent.verb, dependent.version, dependent.definition) if dependent.verb else None
        if verb is not None and verb.execution.process and verb.content_hash not in known.pins:
            try:
                known.pins[verb.content_hash] = await self._works.carrier(verb, origin)
            except RejectedError:
                return  # seen, and told, when the step is launched


def _bring(brought: Attachments, beginning: Beginning) -> None:
    brought.payloads.extend(beginning.payloads)
    brought.index.extend(beginning.index)


def _taken_text(step: Step, key: str, holder: bytes | None) -> str:
    whose = id_text(holder) if holder else "another call"
    return f"Step '{links_of(step).name}' cannot wait under '{key}': {whose} already does."
