"""The documents of plans and the results of their steps, as far as a process has them in memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

import msgspec

from perdure.errors import InvariantBroken, RejectedError, Rejection
from perdure.kernel.kernel import Aggregate
from perdure.payload import canonical, digest
from perdure.runbooks.machine.journal_entries import Added
from perdure.runbooks.machine.state import Course, Runbook, VerbPin, links_of
from perdure.runbooks.plan import Plan, StepPlan
from perdure.runbooks.ports import RunbookStore
from perdure.sources import id_text
from perdure.verbs import Catalogue, Verb

KEPT_DOCUMENTS = 64
KEPT_VALUES = 4096
LARGEST_KEPT = 16_384
"""How many bytes a result may have to be kept in memory."""

_decode = msgspec.json.Decoder(Plan).decode


class AbsentError(Exception):
    """What is needed has not been read yet: the hash of it."""

    def __init__(self, hash: bytes) -> None:
        super().__init__(hash)
        self.hash = hash


def document_of(plan: Plan, after: int = 0) -> tuple[bytes, bytes]:
    """The hash and bytes of what a plan has beyond its first steps."""
    data = canonical(msgspec.to_builtins(msgspec.structs.replace(plan, steps=plan.steps[after:])))
    return digest(data), data


def plan_hash(plan: Plan) -> bytes:
    return bytes.fromhex(plan.content_hash.removeprefix("sha256:"))


class PlanCache:
    """Of one process; everything in it can be read again."""

    def __init__(self, store: RunbookStore) -> None:
        self._store = store
        self._plans: OrderedDict[bytes, Plan] = OrderedDict()
        self._values: OrderedDict[bytes, Any] = OrderedDict()
        self._inputs: OrderedDict[bytes, bytes] = OrderedDict()

    # --- looking, without reading --------------------------------------------------------------------------------

    def step(self, state: Runbook, number: int) -> StepPlan | None:
        """The plan of a step; None for one that the runbook added by itself."""
        for fragment in course_of(state).fragments:
            if fragment.first <= number < fragment.first + fragment.count:
                return self.fragment(fragment.document).steps[number - fragment.first]
        return None

    def fragment(self, hash: bytes) -> Plan:
        found = self._plans.get(hash)
        if found is None:
            raise AbsentError(hash)
        self._plans.move_to_end(hash)
        return found

    def value(self, hash: bytes | None) -> Any:
        if hash is None:
            return None
        if hash not in self._values:
            raise AbsentError(hash)
        return self._values[hash]

    def input(self, hash: bytes) -> dict[str, Any] | None:
        """What a step is asked with, a copy of its own for each attempt; None when it is not in memory."""
        data = self._inputs.pop(hash, None)
        return msgspec.json.decode(data) if data is not None else None

    def keep_input(self, hash: bytes, data: bytes) -> None:
        """What a step that begins here is about to be asked with."""
        if len(data) <= LARGEST_KEPT:
            self._inputs[hash] = data
            if len(self._inputs) > KEPT_VALUES:
                self._inputs.popitem(last=False)

    # --- reading -------------------------------------------------------------------------------------------------

    async def read(self, aggregate: Aggregate, hash: bytes) -> None:
        """Bring to memory what was absent."""
        data = await self._store.payload(aggregate.id, hash)
        if data is None:
            fact = "its data has been erased" if aggregate.state.erased_at else f"sha256:{hash.hex()} is missing"
            raise RejectedError(Rejection("wrong_state", "read data of", "runbook", id_text(aggregate.id), fact))
        if any(hash == each.document for each in course_of(aggregate.state).fragments):
            self.keep_document(hash, _decode(data))
        else:
            self.keep(hash, msgspec.json.decode(data), 0)

    async def plan(self, aggregate: Aggregate, at: Runbook | None = None) -> Plan:
        """The whole plan as it is now, or as it was in an earlier state."""
        fragments = course_of(at or aggregate.state).fragments
        found = [await self.whole(aggregate, each.document) for each in fragments]
        if not found:
            return Plan(steps=())
        steps = tuple(step for each in found for step in each.steps)
        source = "\n".join(each.source.rstrip("\n") for each in found if each.source)
        return msgspec.structs.replace(found[0], steps=steps, source=source)

    async def whole(self, aggregate: Aggregate, hash: bytes) -> Plan:
        """One document, read when it is not in memory."""
        if hash not in self._plans:
            await self.read(aggregate, hash)
        return self.fragment(hash)

    async def value_of(self, aggregate: Aggregate, hash: bytes | None) -> Any:
        if hash is None:
            return None
        if hash not in self._values:
            await self.read(aggregate, hash)
        return self._values[hash]

    def keep_document(self, hash: bytes, fragment: Plan) -> None:
        self._plans[hash] = fragment
        if len(self._plans) > KEPT_DOCUMENTS:
            self._plans.popitem(last=False)

    def keep(self, hash: bytes, value: Any, size: int) -> None:
        """A result this process has in its hands anyway."""
        if size <= LARGEST_KEPT:
            self._values[hash] = value
            if len(self._values) > KEPT_VALUES:
                self._values.popitem(last=False)


def course_of(state: Runbook) -> Course:
    if state.course is None:
        raise InvariantBroken("look at the plan of", "runbook", state.status, "it is a single call")
    return state.course


def numbers_of(state: Runbook) -> dict[str, list[int]]:
    """The steps by name, in their order."""
    found: dict[str, list[int]] = {}
    for number, step in enumerate(state.steps, 1):
        found.setdefault(links_of(step).name, []).append(number)
    return found


def added_steps(
    steps: Iterable[StepPlan], first: int, known: dict[str, list[int]], catalogue: Catalogue
) -> tuple[Added, ...]:
    """Steps of a plan as the machine takes them: names are numbers, verbs are pinned."""
    steps = tuple(steps)
    names = {name: list(numbers) for name, numbers in known.items()}
    for number, step in enumerate(steps, first):
        names.setdefault(step.name, []).append(number)
    return tuple(_added(step, names, catalogue) for step in steps)


def _added(step: StepPlan, names: dict[str, list[int]], catalogue: Catalogue) -> Added:
    wanted = [reference.step for reference in step.references] + subjects(step.condition)
    needed = [_numbers(names, name, step) for name in dict.fromkeys(wanted)]
    needs = tuple(dict.fromkeys(each[0] for each in needed if len(each) == 1))
    either = tuple(tuple(each) for each in needed if len(each) > 1)
    sides = tuple(dict.fromkeys((_numbers(names, each.choice, step)[0], each.side) for each in step.branches))
    taken = {*needs, *(number for number, _ in sides), *(number for group in either for number in group)}
    after = [number for name in step.after for number in _numbers(names, name, step) if number not in taken]
    verb = catalogue.get(step.verb, step.version or None) if step.verb else None
    return Added(
        step.name, verb.name if verb is not None else "", verb.version if verb is not None else 0,
        _definition(step, verb), needs, tuple(dict.fromkeys(after)), sides, either, step.on_failure, step.gate,
        pinned(catalogue.get(step.alternative)) if step.alternative else None, _compensates(verb, catalogue),
    )  # fmt: skip


def _definition(step: StepPlan, verb: Verb | None) -> bytes:
    return bytes.fromhex((step.definition or verb.content_hash).removeprefix("sha256:")) if verb is not None else b""


def _compensates(verb: Verb | None, catalogue: Catalogue) -> VerbPin | None:
    if verb is None or not verb.execution.compensate:
        return None
    return pinned(catalogue.get(verb.execution.compensate))


def pinned(verb: Verb) -> VerbPin:
    return VerbPin(verb.name, verb.version, verb.definition_hash)


def _numbers(names: dict[str, list[int]], name: str, step: StepPlan) -> list[int]:
    found = names.get(name)
    if not found:
        fact = f"step '{step.name}' hangs on '{name}', which is not there"
        raise RejectedError(Rejection("invalid", "run", "runbook", step.name, fact))
    return found


def subjects(condition: Any) -> list[str]:
    """The steps whose results a condition looks at."""
    if condition is None:
        return []
    if hasattr(condition, "step"):
        return [condition.step]
    parts = condition.of if isinstance(condition.of, tuple) else (condition.of,)
    return [name for part in parts for name in subjects(part)]
