"""Reads guards: a kind with its parameters, or `all`, `any`, `not` and `count` around others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perdure.lifecycles.guards import GuardKind, GuardTable, Parameter
from perdure.lifecycles.machine.definition import Guard
from perdure.lifecycles.yaml_keys import COMBINED_KEYS, PLACES
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.near_names import did_you_mean
from perdure.verbs.yaml_nodes import Node, Report

MAX_INSIDE = 100
NOTHING = Guard("any")
"""Stands for a guard that could not be read, in a definition that is refused anyway."""


class GuardReader:
    """Reads the guards of one file."""

    def __init__(self, file: str, report: Report, table: GuardTable) -> None:
        self._file = file
        self._report = report
        self._table = table
        self.places: dict[int, Node] = {}
        """Where each guard was written, by its identity."""

    def read(self, node: Node, more: Mapping[str, str] | None = None) -> Guard:
        """A mapping, or a list of which all must hold. `more` are keys beside those of the guard."""
        if isinstance(node.value, list):
            return self._kept(Guard("all", guards=self._several(node)), node)
        if not isinstance(node.value, dict):
            self._wrong(node, "wrong_type", f"expected a guard, found {node.kind()}", "Write {type: …}.")
            return NOTHING
        combined = [key for key in COMBINED_KEYS if key in node.value]
        if combined:
            return self._kept(self._combined(node, combined, more or {}), node)
        return self._kept(self._single(node, more or {}), node)

    def _kept(self, guard: Guard, node: Node) -> Guard:
        self.places[id(guard)] = node
        return guard

    def _combined(self, node: Node, combined: list[str], more: Mapping[str, str]) -> Guard:
        accepted = frozenset({*COMBINED_KEYS, *more})
        fields = Fields(node, "guard", self._file, self._report, accepted=accepted)
        if len(combined) > 1:
            fields.wrong(node, "combined", f"'{combined[0]}' and '{combined[1]}' stand beside each other", "Nest them.")
        kind = combined[0]
        inside = fields.get(kind)
        if inside is None:
            fields.wrong(node, "missing_key", f"'{kind}' has no guards")
            return NOTHING
        if kind == "not":
            return Guard("not", guards=(self.read(inside),))
        if kind == "count":
            counted = Fields(inside, "count", self._file, self._report, accepted=frozenset({"at_least", "of"}))
            of = counted.get("of")
            guards = self._several(of) if of is not None else ()
            if of is None:
                counted.missing("of")
            at_least = counted.integer("at_least", 1, 1, MAX_INSIDE)
            return Guard("count", {"at_least": at_least}, guards)
        return Guard(kind, guards=self._several(inside))

    def _several(self, node: Node) -> tuple[Guard, ...]:
        if not isinstance(node.value, list) or not node.value or len(node.value) > MAX_INSIDE:
            found = node.kind() if not isinstance(node.value, list) else f"{len(node.value)} of them"
            self._wrong(node, "wrong_type", f"expected a list of 1 to {MAX_INSIDE} guards, found {found}")
            return ()
        return tuple(self.read(each) for each in node.value)

    def _single(self, node: Node, more: Mapping[str, str]) -> Guard:
        named = node.value.get("type")
        kind = self._table.find(named.value) if named is not None and isinstance(named.value, str) else None
        if kind is None:
            self._unknown_kind(node, named)
            return NOTHING
        own = {each.name: each.description for each in kind.parameters}
        fields = Fields(node, "guard", self._file, self._report, accepted=frozenset({"type", *own, *more}))
        read = {each.name: _value(fields, each, kind) for each in kind.parameters}
        return Guard(kind.name, {name: value for name, value in read.items() if value is not None})

    def _unknown_kind(self, node: Node, named: Node | None) -> None:
        if named is None or not isinstance(named.value, str):
            hint = f"Write one of {', '.join(sorted(self._table.names()))}."
            self._wrong(node, "missing_key", "'type' is missing", hint)
            return
        if named.value in COMBINED_KEYS:
            hint = f"Write it without `type`, around other guards: `{named.value}: …`."
            self._wrong(named, "unknown_kind", f"'{named.value}' is not the type of a guard", hint)
            return
        hint = did_you_mean(named.value, self._table.names()) or f"Known: {', '.join(sorted(self._table.names()))}."
        self._wrong(named, "unknown_kind", f"'{named.value[:80]}' is not a kind of guard", hint)

    def _wrong(self, node: Node, code: str, reason: str, hint: str = "") -> None:
        self._report.add((self._file, node.line, node.column), f"guard.{code}", node.path, reason, hint)


def _value(fields: Fields, parameter: Parameter, kind: GuardKind) -> Any:
    name, node = parameter.name, fields.get(parameter.name)
    if node is None:
        if parameter.is_required:
            fields.wrong(fields.node, "missing_key", f"'{name}' is missing for a guard '{kind.name}'")
        return None
    match parameter.type:
        case "text":
            text = fields.text(name)
            if parameter.choices and text and not text.startswith("$") and text not in parameter.choices:
                hint = did_you_mean(text, parameter.choices)
                fields.wrong(node, "unknown_value", f"'{text}' is not one of {', '.join(parameter.choices)}", hint)
            return text
        case "integer":
            return fields.integer(name, 1, parameter.minimum, 1_000_000)
        case "boolean":
            return fields.boolean(name)
        case "texts":
            return list(fields.texts(name))
        case "values":
            return [each.plain() for each in fields.items(name)]
        case "mapping":
            return fields.data(name)
        case "value":
            return node.plain()


REQUIREMENT_KEYS = PLACES["requirement"]
