"""Condition texts read into trees: recursive descent, bounded, and never an exception."""

from __future__ import annotations

from typing import NoReturn, TypeVar

import msgspec

from perdure.bpmn.conditions.tokens import Word, words_of
from perdure.bpmn.conditions.tree import (
    Among,
    Both,
    Compare,
    Comparison,
    Condition,
    Either,
    Foreign,
    Not,
    Scalar,
)
from perdure.verb_contract import FLAG_NAME, MAX_FLAG_TEXT, SAFE_INTEGER

MAX_CONDITION_LENGTH = 4096
MAX_CONDITION_DEPTH = 32
"""How deep parentheses and `not(...)` may nest."""

_OPERATORS: dict[str, Comparison] = {"=": "=", "==": "=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_FLIPPED: dict[Comparison, Comparison] = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_CLOSING = {"(": ")", "[": "]"}
_ARITHMETIC = frozenset(("+", "-", "*", "/", "%", "^"))
_COMPUTE = "Let a verb compute a flag (orch_…) and compare that."


class _Flag(msgspec.Struct, frozen=True):
    name: str


_Operand = TypeVar("_Operand", _Flag, int)


class _OutsideError(Exception):
    """What was met outside the grammar; does not leave this module."""

    def __init__(self, fact: str, offset: int, hint: str) -> None:
        super().__init__(fact)
        self.fact, self.offset, self.hint = fact, offset, hint


def parse_condition(text: str) -> Condition:
    """The tree of a condition in either spelling; `Foreign` for everything outside the grammar."""
    if len(text) > MAX_CONDITION_LENGTH:
        fact = f"it has {len(text):,} characters and may have {MAX_CONDITION_LENGTH:,}"
        return Foreign(text, fact, MAX_CONDITION_LENGTH, _COMPUTE)
    start, end = _inside(text)
    try:
        return _Reader(words_of(text, start, end)).whole()
    except _OutsideError as outside:
        return Foreign(text, outside.fact, outside.offset, outside.hint)


def _inside(text: str) -> tuple[int, int]:
    """Where the condition itself stands: without spaces, a leading `=` or a `${…}` around it."""
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    if text.startswith(("${", "#{"), start) and text.endswith("}", start, end):
        return start + 2, end - 1
    if text.startswith("=", start) and not text.startswith("==", start):
        return start + 1, end
    return start, max(start, end)


class _Reader:
    def __init__(self, words: list[Word]) -> None:
        self._words = words
        self._at = 0
        self._depth = 0

    def whole(self) -> Condition:
        if self._is_at_end():
            raise _OutsideError("it is empty", self._word.offset, 'Write a comparison, e.g. orch_outcome = "approved".')
        condition = self._either()
        if not self._is_at_end():
            raise self._unexpected("after the end of the condition")
        return condition

    @property
    def _word(self) -> Word:
        return self._words[self._at]

    def _take(self) -> Word:
        word = self._words[self._at]
        self._at = min(self._at + 1, len(self._words) - 1)
        return word

    def _is_at_end(self) -> bool:
        return self._word.kind == "end"

    def _is(self, *spellings: str) -> bool:
        return self._word.kind in ("name", "sign") and self._word.text in spellings

    def _skip(self, *spellings: str) -> bool:
        found = self._is(*spellings)
        if found:
            self._take()
        return found

    def _either(self) -> Condition:
        parts = [self._both()]
        while self._skip("or", "||"):
            parts.append(self._both())
        return either(*parts)

    def _both(self) -> Condition:
        parts = [self._part()]
        while self._skip("and", "&&"):
            parts.append(self._part())
        return both(*parts)

    def _part(self) -> Condition:
        word = self._word
        if self._skip("not", "!"):
            if not self._is("("):
                hint = "Write not(orch_x = true)."
                raise _OutsideError(f"'{word.text}' is not followed by parentheses", word.offset, hint)
            return Not(self._nested())
        return self._nested() if self._is("(") else self._comparison()

    def _nested(self) -> Condition:
        opening = self._take()
        self._depth += 1
        if self._depth > MAX_CONDITION_DEPTH:
            fact = f"it nests deeper than {MAX_CONDITION_DEPTH} parentheses"
            raise _OutsideError(fact, opening.offset, _COMPUTE)
        condition = self._either()
        self._close(")")
        self._depth -= 1
        return condition

    def _close(self, closing: str) -> None:
        if not self._skip(closing):
            raise self._unexpected(f"where '{closing}' should stand")

    def _comparison(self) -> Condition:
        word = self._word
        left = self._operand()
        if isinstance(left, _Flag) and self._skip("in"):
            return Among(left.name, self._list())
        operator = self._operator(word, left)
        right_word = self._word
        right = self._operand()
        if isinstance(left, _Flag) == isinstance(right, _Flag):
            things = "flags" if isinstance(left, _Flag) else "literals"
            hint = "Let a verb compare them and set a flag." if things == "flags" else _COMPUTE
            raise _OutsideError(f"it compares two {things}", right_word.offset, hint)
        if isinstance(left, _Flag) and not isinstance(right, _Flag):
            return _compare(left.name, operator, right, right_word)
        assert isinstance(right, _Flag) and not isinstance(left, _Flag)
        return _compare(right.name, _FLIPPED[operator], left, word)

    def _operator(self, word: Word, left: _Flag | Scalar) -> Comparison:
        if self._word.kind == "sign" and self._word.text in _OPERATORS:
            return _OPERATORS[self._take().text]
        if self._is_at_end() or self._is(")", "and", "or", "&&", "||"):
            _refuse_bare(left, word)
        if self._is("<>"):
            raise _OutsideError("'<>' is not how conditions say unequal", self._word.offset, "Write !=.")
        raise self._unexpected("where a comparison should stand")

    def _operand(self) -> _Flag | Scalar:
        word = self._word
        match word.kind:
            case "string":
                return _text(self._take())
            case "integer":
                return self._not_computed(_integer(self._take()))
            case "name":
                return self._name()
            case "sign" if word.text == "-" and self._words[self._at + 1].kind == "integer":
                self._take()
                return self._not_computed(-_integer(self._take()))
            case _:
                raise self._unexpected("where a flag or a literal should stand")

    def _name(self) -> _Flag | Scalar:
        word = self._undotted(self._take())
        if word.text in ("true", "false"):
            return word.text == "true"
        self._refuse_call(word)
        _refuse_word(word)
        if not FLAG_NAME.fullmatch(word.text):
            _refuse_variable(word)
        return self._not_computed(_Flag(word.text))

    def _undotted(self, word: Word) -> Word:
        """`orch.x` is another spelling of `orch_x`."""
        if word.text != "orch" or not self._is(".") or self._words[self._at + 1].kind != "name":
            return word
        self._take()
        return Word("name", f"orch_{self._take().text}", word.offset)

    def _refuse_call(self, word: Word) -> None:
        if self._is("("):
            raise _OutsideError(f"it calls the function '{word.text}'", word.offset, _COMPUTE)
        if self._is(".", "["):
            raise _OutsideError(f"it reaches into '{word.text}'", word.offset, _COMPUTE)

    def _not_computed(self, operand: _Operand) -> _Operand:
        if self._word.kind == "sign" and self._word.text in _ARITHMETIC:
            raise _OutsideError(f"it computes with '{self._word.text}'", self._word.offset, _COMPUTE)
        return operand

    def _list(self) -> tuple[Scalar, ...]:
        opening = self._word
        if not self._is("(", "["):
            raise self._unexpected("where the list of 'in' should stand", 'Write orch_x in ("a", "b").')
        self._take()
        literals = [self._literal()]
        while self._skip(","):
            literals.append(self._literal())
        if self._is(".."):
            hint = "Write orch_x >= 1 and orch_x <= 5."
            raise _OutsideError("it uses a range", self._word.offset, hint)
        self._close(_CLOSING[opening.text])
        return tuple({(type(each), each): each for each in literals}.values())

    def _literal(self) -> Scalar:
        word = self._word
        operand = self._operand()
        if isinstance(operand, _Flag):
            fact = f"the list of 'in' holds the flag '{operand.name}'"
            raise _OutsideError(fact, word.offset, "List literals only, or let a verb compare them and set a flag.")
        return operand

    def _unexpected(self, where: str, hint: str = "") -> _OutsideError:
        word = self._word
        if word.kind == "end":
            return _OutsideError(f"it ends {where}", word.offset, hint or "Complete or remove the last part.")
        if word.kind == "name":
            _refuse_word(word)
        if word.text.replace(".", "").isdigit() and word.kind == "other":
            return _OutsideError(f"{word.text} is not an integer", word.offset, "Flags hold integers; " + _COMPUTE)
        if word.kind == "sign" and word.text in _ARITHMETIC:
            return _OutsideError(f"it computes with '{word.text}'", word.offset, _COMPUTE)
        if word.kind == "other" and word.text in "\"'":
            return _OutsideError("a string is not closed", word.offset, f"Close it with {word.text}.")
        return _OutsideError(f"'{word.text[:40]}' stands {where}", word.offset, hint or _COMPUTE)


def both(*parts: Condition) -> Condition:
    """The parts joined by and, flattened; one part alone stays itself."""
    flat = tuple(each for part in parts for each in (part.parts if isinstance(part, Both) else (part,)))
    return flat[0] if len(flat) == 1 else Both(flat)


def either(*parts: Condition) -> Condition:
    """The parts joined by or, flattened; one part alone stays itself."""
    flat = tuple(each for part in parts for each in (part.parts if isinstance(part, Either) else (part,)))
    return flat[0] if len(flat) == 1 else Either(flat)


def _compare(flag: str, operator: Comparison, literal: Scalar, word: Word) -> Compare:
    if operator in ("=", "!=") or (isinstance(literal, int) and not isinstance(literal, bool)):
        return Compare(flag, operator, literal)
    raise _OutsideError(f"'{operator}' orders something that is not an integer", word.offset, _COMPUTE)


def _text(word: Word) -> str:
    if len(word.text) > MAX_FLAG_TEXT:
        fact = f"a string has {len(word.text):,} characters and a flag holds at most {MAX_FLAG_TEXT:,}"
        raise _OutsideError(fact, word.offset, _COMPUTE)
    return word.text


def _integer(word: Word) -> int:
    # The length is looked at first because Python refuses to read very long integers.
    if len(word.text) > 16 or int(word.text) > SAFE_INTEGER:
        raise _OutsideError(f"{word.text[:40]} is beyond 2^53-1, the largest exact integer", word.offset, _COMPUTE)
    return int(word.text)


def _refuse_bare(left: _Flag | Scalar, word: Word) -> NoReturn:
    if isinstance(left, _Flag):
        fact = f"the flag '{left.name}' is not compared with anything"
        raise _OutsideError(fact, word.offset, f"Write {left.name} = true.")
    hint = "Remove the condition, or make the flow the default."
    raise _OutsideError("a literal alone decides nothing", word.offset, hint)


def _refuse_word(word: Word) -> None:
    match word.text:
        case "null" | "None" | "nil":
            hint = "All flags have a value from the start: compare with the flag's initial value."
            raise _OutsideError("no flag is ever null", word.offset, hint)
        case "AND" | "OR" | "NOT" | "IN" | "And" | "Or" | "Not" | "True" | "False" | "TRUE" | "FALSE":
            raise _OutsideError(f"'{word.text}' is in capitals", word.offset, f"Write {word.text.lower()}.")
        case "if" | "for" | "some" | "every" | "function" | "between" | "instance" | "satisfies" | "return":
            raise _OutsideError(f"it uses '{word.text}'", word.offset, _COMPUTE)
        case _:
            return


def _refuse_variable(word: Word) -> NoReturn:
    if word.text.startswith("orch_"):
        hint = "Flags are orch_ followed by small letters, digits and underscores, at most 68 characters."
        raise _OutsideError(f"'{word.text[:80]}' is not a flag name", word.offset, hint)
    hint = f"Only orch_* flags can be read: {_COMPUTE[0].lower()}{_COMPUTE[1:]}"
    raise _OutsideError(f"it reads the variable '{word.text[:80]}'", word.offset, hint)
