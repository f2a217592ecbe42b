"""Reads blockers and resolutions: an S-expression as the sources write it, or a mapping of verb and arguments."""

from __future__ import annotations

import re
from typing import Any

from perdure.errors import DefinitionError
from perdure.lifecycles.machine.definition import DEFAULT_ATTEMPTS, Resolution
from perdure.lifecycles.yaml_keys import PLACES
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.sexpr import read
from perdure.verbs.sexpr.forms import CallForm, ListForm, Literal, MapForm, Symbol, Value, Variable, snake
from perdure.verbs.yaml_nodes import Node, Report

MAX_ATTEMPTS = 100
MAX_EXPECTED = 1000
HOUR = 3600.0
_WORD = re.compile(r'("(?:[^"\\]|\\.)*")|(?<=\s)(?!true\b|false\b|nil\b)([A-Za-z][A-Za-z0-9_-]*)(?=[\s)\]])')
"""A text in quotes, or a bare word that stands as a value: the sources write `:document-type passport`."""


class Blocker:
    """What a file says of a blocker."""

    __slots__ = ("description", "resolution", "type")

    def __init__(self, type: str, description: str, resolution: Resolution | None) -> None:
        self.type = type
        self.description = description
        self.resolution = resolution


def read_blocker(node: Node, file: str, report: Report) -> Blocker:
    """The blocker of an `on_fail`."""
    outer = Fields(node, "on_fail", file, report, accepted=frozenset(PLACES["on_fail"]))
    inside = outer.get("blocker")
    if inside is None:
        outer.missing("blocker")
        return Blocker("", "", None)
    fields = Fields(inside, "blocker", file, report, accepted=frozenset(PLACES["blocker"]))
    resolution = _resolution(fields, file, report)
    return Blocker(fields.text("type"), fields.text("description"), resolution)


def _resolution(fields: Fields, file: str, report: Report) -> Resolution | None:
    node = fields.get("resolution")
    if node is None:
        for key in ("auto", "expires", "expires_hours", "max_attempts", "expected"):
            if key in fields:
                fields.wrong(fields.get(key), "no_resolution", f"'{key}' is given and no resolution is")
        return None
    verb, args = _call(node, file, report)
    hours = fields.integer("expires_hours", 0, 1, 1_000_000)
    return Resolution(
        verb,
        args,
        fields.boolean("auto"),
        fields.duration("expires") or (hours * HOUR if hours else None),
        fields.integer("max_attempts", DEFAULT_ATTEMPTS, 1, MAX_ATTEMPTS),
        fields.integer("expected", 1, 1, MAX_EXPECTED),
    )


def _call(node: Node, file: str, report: Report) -> tuple[str, dict[str, Any]]:
    if isinstance(node.value, dict):
        fields = Fields(node, "resolution", file, report, accepted=frozenset(PLACES["resolution"]))
        return fields.text("verb", required=True), {snake(key): each for key, each in fields.data("args").items()}
    place = (file, node.line, node.column)
    if not isinstance(node.value, str):
        report.add(place, "resolution.wrong_type", node.path, f"expected a call, found {node.kind()}")
        return "", {}
    try:
        statements = read(quoted(node.value), file=file).statements
    except DefinitionError as error:
        for problem in error.problems:
            report.add(place, "resolution.syntax", node.path, problem.reason, problem.hint)
        return "", {}
    if len(statements) != 1:
        reason = f"expected one call, found {len(statements) or 'none'}"
        report.add(place, "resolution.syntax", node.path, reason, "Write (verb :argument value).")
        return "", {}
    call = statements[0]
    try:
        return call.verb, {snake(each.name): _plain(each.value) for each in call.args}
    except ValueError as error:
        report.add(place, "resolution.syntax", node.path, str(error), "Name values of the context with $.")
        return "", {}


def quoted(text: str) -> str:
    """The text with every bare word that stands as a value in quotes."""
    return _WORD.sub(lambda match: match[1] or f'"{match[2]}"', text)


def _plain(value: Value) -> Any:
    match value:
        case Literal(value=plain):
            return plain
        case Variable(name=name, path=path):
            return "$" + ".".join((name, *path))
        case ListForm(items=items):
            return [_plain(each) for each in items]
        case MapForm(entries=entries):
            return {each.key: _plain(each.value) for each in entries}
        case Symbol(name=name):
            raise ValueError(f"@{name} is the result of another call, and a resolution stands alone")
        case CallForm(verb=verb):
            raise ValueError(f"the call of '{verb}' stands inside another, and a resolution is one call")
