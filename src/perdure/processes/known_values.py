"""Known values: fields that a process gives to a wait by itself, which nothing from outside replaces.

| a field that arrives | becomes |
|---|---|
| the process has no value for it | part of the answer |
| the process has the same value | nothing: it is known already |
| the process has another value | a refusal that names the field; the wait goes on |
| an earlier answer to the same intake, or to the same wait, brought its value | part of the answer: it is asked again |
| the wait's property `replaces` names it | part of the answer, whatever the process has |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.state import Place
from perdure.engine import Told
from perdure.errors import PerdureError, SchemaViolationError
from perdure.kernel.kernel import Aggregate
from perdure.payload import canonical
from perdure.processes.payload_merge import Data, difference, seen_from
from perdure.processes.payloads import Payloads

REPLACES = "replaces"
"""The property of a wait that names, comma separated, known fields which its answer may replace."""
MAX_REMEMBERED = 256


class Asked(msgspec.Struct, frozen=True):
    """A wait as far as its answers go: answers to one intake are alike, those to a wait without one are its own."""

    element: str
    intake: str = ""
    place: Place = ()


class MissingAnswers(Exception):
    """Earlier answers that are not in memory: to be loaded, and what needed them prepared again."""

    def __init__(self, asked: Asked, aggregate: Aggregate) -> None:
        super().__init__(asked.element)
        self.asked = asked
        self.aggregate = aggregate


class EarlierAnswers:
    """Fields that earlier answers brought, with the values they led to, for the version of an instance at hand."""

    def __init__(self, payloads: Payloads) -> None:
        self._payloads = payloads
        self._found: dict[tuple[bytes, int, Asked], Data] = {}

    def of(self, aggregate: Aggregate, asked: Asked) -> Data:
        """From memory, or MissingAnswers."""
        try:
            return self._found[aggregate.id, aggregate.version, asked]
        except KeyError:
            raise MissingAnswers(asked, aggregate) from None

    async def load(self, aggregate: Aggregate, asked: Asked, history: Iterable[Told]) -> Data:
        """Read them from the history of the instance."""
        if len(self._found) >= MAX_REMEMBERED:
            self._found.clear()
        entries = [entry for told in history if told.sequence <= aggregate.version for entry in told.entries]
        brought = self._found[aggregate.id, aggregate.version, asked] = await self._read(aggregate, asked, entries)
        return brought

    async def _read(self, aggregate: Aggregate, asked: Asked, entries: Iterable[Any]) -> Data:
        """A field counts as brought when an answer has it and the process had none, or only that of an answer."""
        brought: Data = {}
        arrived: dict[int, Data] = {}
        before: Data = {}
        for entry in entries:
            if isinstance(entry, e.JobMade) and (entry.purpose, entry.verb) == ("intake", asked.intake):
                answer = await self._data(aggregate, entry.message)
                arrived[entry.number] = _added(answer, seen_from(before, asked.place), brought)
            elif isinstance(entry, e.InstanceStarted | e.HeadChanged | e.JobCompleted):
                after = await self._data(aggregate, entry.head)
                if isinstance(entry, e.JobCompleted):
                    seen = seen_from(after, asked.place)
                    brought |= {name: seen.get(name, value) for name, value in arrived.pop(entry.number, {}).items()}
                elif not asked.intake and await self._last_writer(aggregate, entry.head) == asked.element:
                    patch = _at(difference(before, after), asked.place)
                    brought |= _added(patch, seen_from(before, asked.place), brought)
                before = after
        return brought

    async def _data(self, aggregate: Aggregate, hash: bytes) -> Data:
        """Data that was erased, or is damaged, brought nothing: then the process's own value stands."""
        try:
            data = (await self._payloads.open(aggregate.id, hash)).data
        except PerdureError:
            return {}
        return data if isinstance(data, dict) else {}

    async def _last_writer(self, aggregate: Aggregate, hash: bytes) -> str:
        try:
            trail = (await self._payloads.open(aggregate.id, hash)).sub_verb_trail
        except PerdureError:
            return ""
        return trail[-1].verb if trail else ""


def _added(answer: Data, seen: Data, brought: Data) -> Data:
    return {name: value for name, value in answer.items() if name not in seen or name in brought}


def _at(patch: Data, place: Place) -> Data:
    own: Any = patch
    for name in place:
        own = own.get(name) if isinstance(own, dict) else None
    return own if isinstance(own, dict) else {}


def replaceable(properties: Mapping[str, str]) -> frozenset[str]:
    """The known fields that a wait lets its answer replace."""
    return frozenset(name.strip() for name in properties.get(REPLACES, "").split(","))


def still_known(known: Data, earlier: Data) -> Data:
    """The known fields without those whose value an earlier answer brought."""
    return {name: value for name, value in known.items() if name not in earlier or not is_same(earlier[name], value)}


def contested(known: Data, given: Data, *, is_merged: bool = False) -> list[str]:
    """The fields that arrive with another value than the process has; of objects that are merged, their fields."""
    found: list[str] = []
    for name, value in given.items():
        if name not in known or is_same(known[name], value):
            continue
        if is_merged and isinstance(value, dict) and isinstance(known[name], dict):
            found.extend(f"{name}.{each}" for each in contested(known[name], value, is_merged=True))
        else:
            found.append(name)
    return found


def is_same(left: Any, right: Any) -> bool:
    """Whether two values are one in canonical JSON."""
    return canonical(left) == canonical(right)


def refuse(element: str, names: Iterable[str]) -> SchemaViolationError:
    """The refusal of an answer that would replace what the process gives."""
    reason, hint = "the process gives it, and with another value", "Leave it out."
    violations = [{"path": f"$.{name}", "reason": reason, "hint": hint} for name in names]
    told = ", ".join(each["path"] for each in violations)
    return SchemaViolationError("accept data for", "element", element, f"{told}: {reason}", hint, violations=violations)
