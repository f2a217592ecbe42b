"""The verbs a program asks for, found once each, with what they take and what they write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from perdure.runbooks.language.entity_writes import writes_of
from perdure.runbooks.language.schema_types import Shape
from perdure.runbooks.plan import Path
from perdure.verbs import Catalogue, CompiledSchema, Verb
from perdure.verbs.compiled_schema import SchemaFault
from perdure.verbs.definition import same_verb_name
from perdure.verbs.near_names import nearest
from perdure.verbs.sexpr.forms import Span
from perdure.verbs.sexpr.mistakes import Mistake, Report, shown

_COMPOSED = frozenset({"$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties"})
_LISTED = 8


class AskedVerb:
    """One verb, and its schemas compiled part by part."""

    def __init__(self, verb: Verb, catalogue: Catalogue) -> None:
        self.verb = verb
        self.schema = verb.input.schema
        self.properties = verb.input.properties
        self.required = [name for name in self.schema.get("required", ()) if not self._has_default(name)]
        self.is_closed = False in (
            self.schema.get("additionalProperties"), self.schema.get("unevaluatedProperties")
        ) and not (_COMPOSED & self.schema.keys())  # fmt: skip
        self.is_decision = bool(getattr(verb.execution, "decision", False))
        self.writes = writes_of(verb.definition, catalogue)
        self._compiled: dict[int, CompiledSchema | None] = {}

    def _has_default(self, name: str) -> bool:
        part = self.properties.get(name)
        return isinstance(part, dict) and "default" in part

    def violations(self, value: Any, shape: Shape) -> Iterator[tuple[Path, str, str]]:
        """Where and why a value is not what one part of the input allows, with advice."""
        key = id(shape.schema)
        if key not in self._compiled:
            self._compiled[key] = self._compile(shape.schema)
        compiled = self._compiled[key]
        for found in compiled.violations(value) if compiled is not None else ():
            yield path_of(found.path), found.reason, found.hint

    def _compile(self, part: Any) -> CompiledSchema | None:
        if not isinstance(part, dict) or not part:
            return None
        try:
            return CompiledSchema({**part, "$defs": self.schema.get("$defs", {})})
        except SchemaFault:
            return None


class AskedVerbs:
    """Looks verbs up by the names written; a bare name stands for the one verb so called."""

    def __init__(self, catalogue: Catalogue, report: Report) -> None:
        self.catalogue = catalogue
        self._report = report
        self._bare = bare_names(catalogue)
        self._found: dict[str, AskedVerb | None] = {}

    def find(self, written: str, place: Span) -> AskedVerb | None:
        """The verb meant, or None after that has been reported."""
        found = self.meant(written)
        if found is None:
            self._missing(written, place)
        return found

    def meant(self, written: str) -> AskedVerb | None:
        if written not in self._found:
            verb = find_verb(self.catalogue, written, self._bare)
            self._found[written] = None if verb is None else AskedVerb(verb, self.catalogue)
        return self._found[written]

    def _missing(self, written: str, place: Span) -> None:
        meant = [] if "." in written else self._bare.get(same_verb_name(written), [])
        if meant:
            hint = f"Write one of {', '.join(sorted(meant)[:_LISTED])}."
            reason = f"several domains have a verb '{shown(written)}'"
            self._report.add(Mistake.AMBIGUOUS_VERB, place, reason, hint)
            return
        similar = None
        if not self._report.full:
            similar = nearest(written, self.catalogue.names()) or nearest(written, self._bare)
        hint = f"Did you mean {similar}?" if similar else "Look for it in 'perdure verbs list', or declare it."
        self._report.add(Mistake.UNKNOWN_VERB, place, f"there is no verb '{shown(written)}'", hint)


def bare_names(catalogue: Catalogue) -> dict[str, list[str]]:
    """The verbs that each name without a domain may mean."""
    found: dict[str, list[str]] = {}
    for name in catalogue.names():
        found.setdefault(same_verb_name(name.rpartition(".")[2]), []).append(name)
    return found


def find_verb(catalogue: Catalogue, written: str, bare: dict[str, list[str]] | None = None) -> Verb | None:
    """The verb that a name means, a bare one when it means one verb only."""
    verb = catalogue.find(written)
    if verb is not None or "." in written:
        return verb
    meant = (bare_names(catalogue) if bare is None else bare).get(same_verb_name(written), [])
    return catalogue.find(meant[0]) if len(meant) == 1 else None


def path_of(text: str) -> Path:
    """The path that a violation names as text (`$.a[0]['b c']`)."""
    found: list[str | int] = []
    rest = text.removeprefix("$")
    while rest:
        if rest.startswith("['"):
            key, _, rest = rest[2:].partition("']")
            found.append(key)
        elif rest.startswith("["):
            number, _, rest = rest[1:].partition("]")
            found.append(int(number) if number.isdecimal() else number)
        else:
            body = rest[1:]
            end = next((at for at, character in enumerate(body) if character in ".["), len(body))
            found.append(body[:end])
            rest = body[end:]
    return tuple(found)
