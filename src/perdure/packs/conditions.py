"""Conditions of packs: one tiny grammar, read into a tree; whatever it does not know is an error, never true."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NoReturn, assert_never

import msgspec

Operator = Literal["==", "!=", "<", "<=", ">", ">="]
Path = tuple[str, ...]

MAX_TEXT = 1000
MAX_DEPTH = 20
_TOKEN = re.compile(
    r"\s*(?:(?P<text>'[^']*'|\"[^\"]*\")|(?P<number>-?\d+(?:\.\d+)?(?![\w-]))|(?P<mark>==|!=|<=|>=|<|>|[()\[\],])"
    r"|(?P<word>[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*))"
)
_WORDS = frozenset({"and", "or", "not", "in", "is", "set", "exists", "true", "false"})
_OPERATORS: dict[str, Operator] = {"==": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


class ConditionFault(Exception):
    """A text that is no condition: why, and at which character (from 0)."""

    def __init__(self, reason: str, at: int) -> None:
        super().__init__(reason)
        self.reason, self.at = reason, at


class Compared(msgspec.Struct, frozen=True, tag="compared"):
    """A value compared with a literal."""

    path: Path
    operator: Operator
    value: Any


class OneOf(msgspec.Struct, frozen=True, tag="one_of"):
    path: Path
    values: tuple[Any, ...]


class IsSet(msgspec.Struct, frozen=True, tag="is_set"):
    """Whether there is a value: an empty text and an empty list are none."""

    path: Path


class Exists(msgspec.Struct, frozen=True, tag="exists"):
    """Whether some step of the runbook fits; inside, names are those of a step."""

    of: Condition


class Not(msgspec.Struct, frozen=True, tag="not"):
    of: Condition


class All(msgspec.Struct, frozen=True, tag="all"):
    of: tuple[Condition, ...]


class Either(msgspec.Struct, frozen=True, tag="any"):
    of: tuple[Condition, ...]


Condition = Compared | OneOf | IsSet | Exists | Not | All | Either
Leaf = Compared | OneOf | IsSet


def parse_condition(text: str) -> Condition:
    """The tree of a condition, or ConditionFault."""
    return _Parser(text).whole()


def is_met(condition: Condition, names: Mapping[str, Any], steps: Sequence[Mapping[str, Any]] = ()) -> bool:
    """Whether a condition holds. A comparison with something that is not there does not."""
    match condition:
        case Compared(path, operator, value):
            found = look_up(names, path)
            return found is not None and _compare(found, operator, value)
        case OneOf(path, values):
            return any(_is_same(look_up(names, path), value) for value in values)
        case IsSet(path):
            return look_up(names, path) not in (None, "", [], {})
        case Exists(of):
            return any(is_met(of, step) for step in steps)
        case Not(of):
            return not is_met(of, names, steps)
        case All(parts):
            return all(is_met(part, names, steps) for part in parts)
        case Either(parts):
            return any(is_met(part, names, steps) for part in parts)
        case _:
            assert_never(condition)


def look_up(names: Any, path: Sequence[str]) -> Any:
    """The value a path leads to; None where it leads nowhere."""
    for part in path:
        names = names.get(part) if isinstance(names, Mapping) else None
    return names


def leaves(condition: Condition, inside: bool = False) -> Iterator[tuple[Leaf, bool]]:
    """Every test of a condition, and whether it stands inside `exists(…)`."""
    match condition:
        case Compared() | OneOf() | IsSet():
            yield condition, inside
        case Exists(of):
            yield from leaves(of, True)
        case Not(of):
            yield from leaves(of, inside)
        case All(parts) | Either(parts):
            for part in parts:
                yield from leaves(part, inside)
        case _:
            assert_never(condition)


def renamed(condition: Condition, rename: Callable[[Path], Path]) -> Condition:
    """The condition with the paths outside `exists(…)` spelled out."""
    match condition:
        case Compared() | OneOf() | IsSet():
            return msgspec.structs.replace(condition, path=rename(condition.path))
        case Exists():
            return condition
        case Not(of):
            return Not(renamed(of, rename))
        case All(parts):
            return All(tuple(renamed(part, rename) for part in parts))
        case Either(parts):
            return Either(tuple(renamed(part, rename) for part in parts))
        case _:
            assert_never(condition)


def _compare(found: Any, operator: Operator, value: Any) -> bool:
    match operator:
        case "==":
            return _is_same(found, value)
        case "!=":
            return not _is_same(found, value)
        case "<" | "<=" | ">" | ">=":
            if not (_is_number(found) and _is_number(value)) and not (
                isinstance(found, str) and isinstance(value, str)
            ):
                return False
            return bool({"<": found < value, "<=": found <= value, ">": found > value, ">=": found >= value}[operator])
        case _:
            assert_never(operator)


def _is_same(found: Any, value: Any) -> bool:
    """Equal and of one kind: true is not 1."""
    return isinstance(found, bool) == isinstance(value, bool) and found == value and found is not None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


class _Parser:
    def __init__(self, text: str) -> None:
        if len(text) > MAX_TEXT:
            raise ConditionFault(f"a condition has at most {MAX_TEXT} characters", MAX_TEXT)
        self._text = text
        self._tokens = list(_tokens(text))
        self._next = 0
        self._depth = 0

    def whole(self) -> Condition:
        if not self._tokens:
            raise ConditionFault("it is empty", 0)
        condition = self._either()
        if self._next < len(self._tokens):
            self._fail(f"'{self._peek()}' is left over")
        return condition

    def _either(self) -> Condition:
        parts = [self._all()]
        while self._take("or"):
            parts.append(self._all())
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def _all(self) -> Condition:
        parts = [self._single()]
        while self._take("and"):
            parts.append(self._single())
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _single(self) -> Condition:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._fail(f"it is nested more than {MAX_DEPTH} levels deep")
        made: Condition
        if self._take("not"):
            made = Not(self._single())
        elif self._take("("):
            made = self._closed()
        elif self._take("exists"):
            self._expect("(")
            made = Exists(self._closed())
        else:
            made = self._test()
        self._depth -= 1
        return made

    def _closed(self) -> Condition:
        made = self._either()
        self._expect(")")
        return made

    def _test(self) -> Condition:
        kind, word = self._pop()
        if kind != "word" or word in _WORDS:
            self._fail(f"a name belongs here, not '{word}'", back=1)
        path = tuple(word.replace("-", "_").split("."))
        if self._take("is"):
            is_not = self._take("not")
            self._expect("set")
            return Not(IsSet(path)) if is_not else IsSet(path)
        if self._take("not"):
            self._expect("in")
            return Not(OneOf(path, self._list()))
        if self._take("in"):
            return OneOf(path, self._list())
        operator = _OPERATORS.get(self._peek())
        if operator is None:
            self._fail("==, !=, <, <=, >, >=, in, not in, is set or is not set belongs here")
        self._pop()
        return Compared(path, operator, self._literal())

    def _list(self) -> tuple[Any, ...]:
        self._expect("[")
        values = [self._literal()]
        while self._take(","):
            values.append(self._literal())
        self._expect("]")
        return tuple(values)

    def _literal(self) -> Any:
        kind, word = self._pop()
        if kind == "text":
            return word[1:-1]
        if kind == "number":
            return float(word) if "." in word else int(word)
        if word in ("true", "false"):
            return word == "true"
        if kind != "word" or word in _WORDS:
            self._fail(f"a text, a number, true or false belongs here, not '{word}'", back=1)
        return word

    def _peek(self) -> str:
        return self._tokens[self._next][1] if self._next < len(self._tokens) else ""

    def _pop(self) -> tuple[str, str]:
        if self._next >= len(self._tokens):
            self._fail("it ends too early")
        kind, word, _ = self._tokens[self._next]
        self._next += 1
        return kind, word

    def _take(self, word: str) -> bool:
        if self._next < len(self._tokens) and self._tokens[self._next][:2] in (("word", word), ("mark", word)):
            self._next += 1
            return True
        return False

    def _expect(self, word: str) -> None:
        if not self._take(word):
            found = f", not '{self._peek()}'" if self._peek() else ""
            self._fail(f"'{word}' belongs here{found}")

    def _fail(self, reason: str, back: int = 0) -> NoReturn:
        place = self._next - back
        raise ConditionFault(reason, self._tokens[place][2] if place < len(self._tokens) else len(self._text))


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    at = 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            while text[at].isspace():
                at += 1
            raise ConditionFault(f"'{text[at]}' means nothing in a condition", at)
        kind = str(match.lastgroup)
        yield kind, match[kind], match.start(kind)
        at = match.end()
