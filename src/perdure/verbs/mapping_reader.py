"""The strict reader of one YAML mapping: every wrong key, type or value becomes a problem with its place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from perdure.durations import DurationError, parse_duration
from perdure.verbs.near_names import did_you_mean
from perdure.verbs.yaml_keys import ACCEPTED_KEYS
from perdure.verbs.yaml_nodes import Node, Report, shown_path

Word = TypeVar("Word", bound=str)


class Fields:
    """One mapping of a file; `kind` names its table of accepted keys, unless they are given."""

    def __init__(
        self, node: Node, kind: str, file: str, report: Report, accepted: frozenset[str] | None = None
    ) -> None:
        self._accepted = accepted if accepted is not None else ACCEPTED_KEYS[kind]
        self.node = node
        self.kind = kind
        self.file = file
        self.report = report
        self._children: dict[str, Node] = node.value if isinstance(node.value, dict) else {}
        if not isinstance(node.value, dict):
            self.wrong(node, "wrong_type", f"expected a mapping, found {node.kind()}")
        self._refuse_unknown_keys()

    def __contains__(self, key: str) -> bool:
        return key in self._children

    def keys(self) -> list[str]:
        return list(self._children)

    def get(self, key: str) -> Node | None:
        """The value of a key; a key written without a value counts as absent."""
        node = self._children.get(key)
        return None if node is None or node.value is None else node

    def wrong(self, node: Node | None, code: str, reason: str, hint: str = "") -> None:
        """Adds a problem at `node`, or at the mapping itself."""
        at = node or self.node
        self.report.add((self.file, at.line, at.column), f"{self.kind}.{code}", shown_path(at), reason, hint)

    def text(self, key: str, default: str = "", required: bool = False) -> str:
        node = self.get(key)
        if node is None:
            if required:
                self.missing(key)
            return default
        if isinstance(node.value, str):
            return node.value
        self.wrong(node, "wrong_type", f"expected text, found {node.kind()}", "Put it in quotes.")
        return default

    def optional_text(self, key: str) -> str | None:
        return self.text(key) or None

    def word(self, key: str, choices: Iterable[Word], default: Word, aliases: dict[str, Word] | None = None) -> Word:
        node = self.get(key)
        if node is None:
            return default
        allowed = tuple(choices)
        value = (aliases or {}).get(node.value, node.value) if isinstance(node.value, str) else node.value
        for choice in allowed:
            if choice == value:
                return choice
        found = node.kind() if isinstance(value, list | dict) else f"'{value}'"
        hint = did_you_mean(str(value), allowed) if isinstance(value, str) else ""
        self.wrong(node, "unknown_value", f"{found} is not one of {', '.join(allowed)}", hint)
        return default

    def integer(self, key: str, default: int, minimum: int, maximum: int) -> int:
        node = self.get(key)
        if node is None:
            return default
        if isinstance(node.value, int) and not isinstance(node.value, bool) and minimum <= node.value <= maximum:
            return node.value
        found = node.value if isinstance(node.value, int | float) else node.kind()
        self.wrong(node, "wrong_value", f"expected a whole number from {minimum} to {maximum}, found {found}")
        return default

    def fraction(self, key: str, default: float) -> float:
        node = self.get(key)
        if node is None:
            return default
        if isinstance(node.value, int | float) and not isinstance(node.value, bool) and 0 <= node.value <= 1:
            return float(node.value)
        found = node.kind() if isinstance(node.value, list | dict) else repr(node.value)
        self.wrong(node, "wrong_value", f"expected a number from 0 to 1, found {found}"[:200])
        return default

    def boolean(self, key: str, default: bool = False) -> bool:
        node = self.get(key)
        if node is None:
            return default
        if isinstance(node.value, bool):
            return node.value
        self.wrong(node, "wrong_type", f"expected true or false, found {node.kind()}", "Write true or false.")
        return default

    def duration(self, key: str) -> float | None:
        node = self.get(key)
        if node is None:
            return None
        if not isinstance(node.value, str):
            self.wrong(node, "duration", f"expected an ISO 8601 duration, found {node.kind()}", "Write e.g. PT2S.")
            return None
        try:
            return parse_duration(node.value)
        except DurationError as error:
            self.wrong(node, "duration", f"'{error.id}' is refused: {error.fact}", error.hint)
            return None

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; one text alone is a list of one."""
        node = self.get(key)
        if node is None:
            return ()
        if isinstance(node.value, str):
            return (node.value,)
        return tuple(child.value for child in self.items(key) if self.is_text(child))

    def items(self, key: str) -> list[Node]:
        node = self.get(key)
        if node is None:
            return []
        if isinstance(node.value, list):
            return node.value
        self.wrong(node, "wrong_type", f"expected a list, found {node.kind()}")
        return []

    def mapping(self, key: str) -> dict[str, Node]:
        node = self.get(key)
        if node is None:
            return {}
        if isinstance(node.value, dict):
            return node.value
        self.wrong(node, "wrong_type", f"expected a mapping, found {node.kind()}")
        return {}

    def text_mapping(self, key: str) -> dict[str, str]:
        return {name: child.value for name, child in self.mapping(key).items() if self.is_text(child)}

    def data(self, key: str) -> dict[str, Any]:
        """A free mapping, kept as it is."""
        return {name: child.plain() for name, child in self.mapping(key).items()}

    def child(self, key: str, kind: str) -> Fields | None:
        node = self.get(key)
        return None if node is None else Fields(node, kind, self.file, self.report)

    def missing(self, key: str) -> None:
        self.wrong(self.node, "missing_key", f"'{key}' is missing")

    def is_text(self, node: Node) -> bool:
        if isinstance(node.value, str):
            return True
        self.wrong(node, "wrong_type", f"expected text, found {node.kind()}", "Put it in quotes.")
        return False

    def _refuse_unknown_keys(self) -> None:
        accepted = self._accepted
        for key in self._children:
            if key not in accepted:
                hint = did_you_mean(key, accepted) or f"Accepted here: {', '.join(sorted(accepted))}."
                place = self.node.key_places.get(key, (self.node.line, self.node.column))
                path = f"{shown_path(self.node)}.{key}".lstrip(".")
                reason = f"the key '{key}' is not known here"
                self.report.add((self.file, *place), f"{self.kind}.unknown_key", path, reason, hint)
