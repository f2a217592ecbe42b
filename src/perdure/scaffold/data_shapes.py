"""The data of a process as records: fields from paths, and what is known of the kinds of their values.

The profile gives paths no types. Literals that conditions compare a path with, and templates that show it, tell its
kind; assignments carry it on. A path that is both assigned as a whole and reached into is plain JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from perdure.bpmn.conditions.tree import atoms, literals_of
from perdure.bpmn.contract import Contract, parse_path
from perdure.scaffold.flow_graph import refused
from perdure.scaffold.identifiers import is_python_name, pascal

Kind = Literal["text", "whole", "truth", "scalar", "json"]
"""A text, a whole number, true or false, a text or a whole number, anything that JSON says."""
Place = tuple[str, tuple[str, ...]]
"""A record by its name, and a path below it."""


class Field(msgspec.Struct, frozen=True):
    """One field: a value of a kind, or a record of its own."""

    name: str
    kind: Kind = "json"
    record: str = ""


class Record(msgspec.Struct, frozen=True):
    name: str
    fields: tuple[Field, ...]


class Shapes(msgspec.Struct, frozen=True):
    """Every record of a process, inner ones before those that hold them; `plain` are paths of plain JSON."""

    records: tuple[Record, ...]
    plain: frozenset[Place]

    def record(self, name: str) -> Record | None:
        return next((each for each in self.records if each.name == name), None)

    def nested(self, name: str) -> tuple[Record, ...]:
        """A record with the records inside it, inner ones first."""
        found = self.record(name)
        if found is None:
            return ()
        inner = [record for field in found.fields if field.record for record in self.nested(field.record)]
        return (*dict.fromkeys(inner), found)


STATE = "State"


def shapes_of(contract: Contract) -> Shapes:
    """State, requests, results, payloads and answers of a process."""
    uses = _Uses(contract)
    plain = frozenset(place for place in uses.places if any(_is_inside(other, place) for other in uses.places))
    kept = [place for place in uses.places if not any(_is_inside(place, outer) for outer in plain)]
    records: list[Record] = []
    for name in uses.names:
        records += _records(name, [place[1] for place in kept if place[0] == name], name, uses, plain)
    return Shapes(tuple(records), plain)


def request_of(type: str) -> str:
    return f"{pascal(type)}Request"


def result_of(type: str) -> str:
    return f"{pascal(type)}Result"


def payload_of(message: str) -> str:
    return f"{pascal(message)}Payload"


def answer_of(update: str) -> str:
    return f"{pascal(update)}Answer"


class _Uses:
    """Every path that something reads or writes, and which of them hold the same values."""

    def __init__(self, contract: Contract) -> None:
        self.places: dict[Place, None] = {}
        self.names: dict[str, None] = {STATE: None}
        self._same: dict[Place, Place] = {}
        self._kinds: dict[Place, set[Kind]] = {}
        for text in contract.state_paths():
            self._place(STATE, parse_path(text).inner)
        self._mappings(contract)
        self._kinds_of(contract)

    def kind(self, place: Place) -> Kind:
        kinds = self._kinds.get(self._root(place), set())
        if kinds - {"scalar"}:
            kinds = kinds - {"scalar"}
        return next(iter(kinds)) if len(kinds) == 1 else "scalar" if kinds == {"text", "whole"} else "json"

    def _mappings(self, contract: Contract) -> None:
        for work in contract.work.values():
            self.names |= {request_of(work.definition.type): None, result_of(work.definition.type): None}
            for each in work.mapping.inputs:
                self._joined((STATE, each.source.inner), (request_of(work.definition.type), each.target.inner))
            for each in work.mapping.outputs:
                self._joined((result_of(work.definition.type), each.source.inner), (STATE, each.target.inner))
        for wait in contract.waits.values():
            for each in wait.mapping.outputs:
                self._place(STATE, each.target.inner)
        for gate in contract.gates.values():
            answer = answer_of(gate.update)
            self.names[answer] = None
            for field in ("decision", "reason"):
                self._tell((answer, (field,)), "text")
            for each in gate.mapping.outputs:
                self._joined((answer, each.source.inner), (STATE, each.target.inner))

    def _kinds_of(self, contract: Contract) -> None:
        for condition in contract.conditions.values():
            for atom in atoms(condition):
                for literal in literals_of(atom):
                    self._tell((STATE, parse_path(atom.flag).inner), _kind(literal))
        for template in (
            contract.workflow.workflow_id,
            *(work.definition.idempotency_key for work in contract.work.values()),
            *(wait.subscription.correlation_key for wait in contract.waits.values()),
        ):
            for path in template.paths:
                self._tell((STATE, path.inner), "scalar")

    def _place(self, name: str, parts: tuple[str, ...]) -> Place:
        for part in parts:
            if not is_python_name(part):
                raise refused(".".join(parts), f"'{part}' is a word of Python and names no field", "Rename the field.")
        self.places[(name, parts)] = None
        return name, parts

    def _tell(self, place: Place, kind: Kind) -> None:
        self._place(*place)
        self._kinds.setdefault(self._root(place), set()).add(kind)

    def _joined(self, one: Place, other: Place) -> None:
        self._place(*one), self._place(*other)
        root, joined = self._root(one), self._root(other)
        if root != joined:
            self._same[joined] = root
            self._kinds.setdefault(root, set()).update(self._kinds.pop(joined, set()))

    def _root(self, place: Place) -> Place:
        while place in self._same:
            place = self._same[place]
        return place


def _kind(literal: str | bool | int) -> Kind:
    return "truth" if isinstance(literal, bool) else "whole" if isinstance(literal, int) else "text"


def _is_inside(place: Place, outer: Place) -> bool:
    size = len(outer[1])
    return place[0] == outer[0] and len(place[1]) > size and place[1][:size] == outer[1]


def _records(
    name: str, paths: list[tuple[str, ...]], top: str, uses: _Uses, plain: Iterable[Place], above: tuple[str, ...] = ()
) -> Iterator[Record]:  # fmt: skip
    """The records of one tree of paths, inner ones first; fields in alphabetical order."""
    fields: list[Field] = []
    for first in sorted({path[0] for path in paths if path}):
        inner = [path[1:] for path in paths if path[0] == first and len(path) > 1]
        place = (top, (*above, first))
        if inner and place not in plain:
            record = name + pascal(first)
            yield from _records(record, inner, top, uses, plain, place[1])
            fields.append(Field(first, record=record))
        else:
            fields.append(Field(first, "json" if place in plain else uses.kind(place)))
    yield Record(name, tuple(fields))
