"""Variables of a workflow: declared, read by conditions in text, and mirrored to flags."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from perdure.bpmn.conditions.parser import parse_condition
from perdure.bpmn.conditions.tree import Among, Both, Compare, Condition, Either, Foreign, Not, Scalar
from perdure.verb_contract import FLAG_NAME, FlagContract, FlagType

VariableType = Literal["string", "integer", "number", "boolean", "object", "list", "any"]
TYPES: dict[str, dict[str, Any]] = {
    "string": {"type": "string"}, "integer": {"type": "integer"}, "number": {"type": "number"},
    "boolean": {"type": "boolean"}, "object": {"type": "object"}, "list": {"type": "array"}, "any": {},
}  # fmt: skip
_WORD = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[A-Za-z_][\w.]*")
_KEYWORDS = frozenset(("and", "or", "not", "in", "true", "false", "True", "False", "null", "None"))


class Variable(NamedTuple):
    """A declared variable. `required` ones must be given at the start."""

    name: str
    type: VariableType = "any"
    required: bool = False
    default: Any = None

    @property
    def schema(self) -> dict[str, Any]:
        own = dict(TYPES[self.type])
        return own if self.default is None else {**own, "default": self.default}


class Mirror(NamedTuple):
    """A flag that follows a variable, or a field of one: `answer.approved`."""

    flag: str
    path: tuple[str, ...]
    type: FlagType
    is_key: bool = False

    def value(self, variables: Mapping[str, Any]) -> Scalar | None:
        """What the flag has to hold; None when the variable says nothing of it."""
        found: Any = variables
        for name in self.path:
            if not isinstance(found, Mapping) or name not in found:
                return None
            found = found[name]
        if found is None:
            return None
        return str(found) if self.is_key and not isinstance(found, str) else found

    def contract(self, default: Any, is_given: bool) -> FlagContract:
        return FlagContract(
            self.flag, self.type, initial=default if len(self.path) == 1 else None, once=self.is_key,
            argument=self.path[0] if is_given else "",
        )  # fmt: skip


def mirrored(text: str) -> tuple[Condition, dict[str, tuple[str, ...]]]:
    """The condition on flags, and the path of the variable that each flag follows."""
    paths: dict[str, tuple[str, ...]] = {}

    def name(match: re.Match[str]) -> str:
        word = match[0]
        if word[0] in "\"'" or word in _KEYWORDS or FLAG_NAME.fullmatch(word):
            return {"True": "true", "False": "false"}.get(word, word)
        flag = flag_name(tuple(word.split(".")))
        paths[flag] = tuple(word.split("."))
        return flag

    return parse_condition(_WORD.sub(name, text)), paths


def flag_name(path: tuple[str, ...]) -> str:
    """`orch_` and the words of the path in lower case."""
    words = re.sub(r"\W", "_", "_".join(path)).lower().strip("_")
    return f"orch_{words if words[:1].isalpha() else f'v_{words}'}"


def flag_types(condition: Condition) -> Iterator[tuple[str, FlagType]]:
    """The flags a condition reads, with the types of what they are compared with."""
    match condition:
        case Compare(flag, _, literal):
            yield flag, type_of(literal)
        case Among(flag, literals):
            yield from ((flag, type_of(each)) for each in literals)
        case Both(parts) | Either(parts):
            for part in parts:
                yield from flag_types(part)
        case Not(part):
            yield from flag_types(part)
        case Foreign():
            return


def type_of(value: Scalar) -> FlagType:
    if isinstance(value, bool):
        return "boolean"
    return "integer" if isinstance(value, int) else "string"
