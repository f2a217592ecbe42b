"""The verbs of a lifecycle: those its data come from, and those it calls with nobody to ask.

| part of a definition | verbs that its data come from |
|---|---|
| resolution, action | its verb |
| guard over an answer | its verb |
| guard over documents | `document.find` |
| guard over a record | every verb that writes records of the entity |
| guard over another lifecycle | those of every version of that |
| guard over a runbook, or of a kind of the project | nobody knows |
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from perdure.access.principal import EVERY_VERB
from perdure.errors import RejectedError
from perdure.journal import Origin
from perdure.lifecycles.guards import (
    custom,
    document_count,
    document_exists,
    document_set,
    field_present,
    field_value,
    lifecycle_state,
)
from perdure.lifecycles.guards.guard_table import COMBINED
from perdure.lifecycles.machine.definition import Guard, Lifecycle, guards_in
from perdure.verbs import Catalogue
from perdure.verbs.definition import CRUD

if TYPE_CHECKING:
    from perdure.app.runtime import Runtime

ANY = EVERY_VERB[0]
DOCUMENTS = ("document.find",)
_READS = ("read", "list", "history")


class LifecycleVerbs:
    """Of the lifecycles of one tenant."""

    def __init__(self, runtime: Runtime, origin: Origin) -> None:
        self._runtime = runtime
        self._origin = origin

    async def of(self, definition: Lifecycle) -> list[str]:
        """The verbs that the data of its instances come from; every verb where nobody knows one."""
        found: dict[str, None] = {}
        waiting, seen = [definition], {definition.name}
        catalogue = self._runtime.catalogue
        while waiting:
            each = waiting.pop()
            for name in self._named(each):
                verb = catalogue.find(name)
                found[verb.name if verb is not None else name] = None
            for other in _others(each):
                if other not in seen:
                    seen.add(other)
                    waiting += await self.versions(other)
        return list(found) or [ANY]

    async def versions(self, lifecycle: str) -> list[Lifecycle]:
        """Every version of a lifecycle; none of one that is not deployed."""
        definitions, origin = self._runtime.lifecycles.definitions, self._origin
        try:
            state = await definitions.versions(lifecycle, origin)
        except RejectedError:
            return []
        return [await definitions.load(lifecycle, each.hash, origin.tenant) for each in state.versions]

    async def of_all(self, lifecycle: str) -> list[str]:
        """The verbs of every version of a lifecycle."""
        found = [await self.of(each) for each in await self.versions(lifecycle)]
        return list(dict.fromkeys(name for names in found for name in names)) or [ANY]

    def _named(self, definition: Lifecycle) -> Iterator[str]:
        for state in definition.states:
            for each in state.requirements:
                if each.resolution is not None:
                    yield each.resolution.verb
        for action in definition.actions:
            yield action.verb
        for guard in guards_of(definition):
            yield from _of_guard(self._runtime.catalogue, guard)


def called_unasked(definition: Lifecycle) -> list[str]:
    """The verbs that an instance calls by itself: to resolve a blocker, to act, or to judge a guard."""
    automatic = [
        each.resolution.verb
        for state in definition.states
        for each in state.requirements
        if each.resolution is not None and each.resolution.auto
    ]
    automatic += [each.verb for each in definition.actions if each.auto]
    judging = [str(each.params.get("verb", "")) for each in guards_of(definition) if each.kind == custom.KIND.name]
    return [name for name in dict.fromkeys((*automatic, *judging)) if name]


def guards_of(definition: Lifecycle) -> Iterator[Guard]:
    """Every guard of a definition, and those inside them."""
    for state in definition.states:
        for each in state.requirements:
            yield from guards_in(each.guard)
    for transition in definition.transitions:
        if transition.guard is not None:
            yield from guards_in(transition.guard)


def _others(definition: Lifecycle) -> Iterator[str]:
    for guard in guards_of(definition):
        if guard.kind == lifecycle_state.KIND.name:
            yield str(guard.params.get("lifecycle", ""))


def _of_guard(catalogue: Catalogue, guard: Guard) -> tuple[str, ...]:
    kind = guard.kind
    if kind in COMBINED or kind == lifecycle_state.KIND.name:
        return ()
    if kind == custom.KIND.name:
        return (str(guard.params.get("verb", ANY)),)
    if kind in (document_exists.KIND.name, document_set.KIND.name, document_count.KIND.name):
        return DOCUMENTS
    if kind in (field_present.KIND.name, field_value.KIND.name):
        record = guard.params.get("record")
        return _writing(catalogue, str(record)) if record else ()
    return (ANY,)


def _writing(catalogue: Catalogue, entity: str) -> tuple[str, ...]:
    """The verbs that write records of an entity."""
    executions = [(verb.name, verb.definition.execution) for verb in catalogue.every_version()]
    found = [
        name
        for name, each in executions
        if each.handler == CRUD and each.params.get("entity") == entity and each.params["operation"] not in _READS
    ]
    return tuple(dict.fromkeys(found)) or (ANY,)
