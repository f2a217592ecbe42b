"""Conditions as trees: comparisons of flags with literals, joined by and, or, not. Nothing else evaluates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, assert_never

import msgspec

Scalar = str | bool | int
Comparison = Literal["=", "!=", "<", "<=", ">", ">="]


class Compare(msgspec.Struct, frozen=True, tag="compare", tag_field="is"):
    """A flag against a literal; only integers are ordered."""

    flag: str
    operator: Comparison
    literal: Scalar


class Among(msgspec.Struct, frozen=True, tag="in", tag_field="is"):
    """A flag that has one of several values."""

    flag: str
    literals: tuple[Scalar, ...]


class Both(msgspec.Struct, frozen=True, tag="and", tag_field="is"):
    """Every part holds."""

    parts: tuple[Condition, ...]


class Either(msgspec.Struct, frozen=True, tag="or", tag_field="is"):
    """At least one part holds."""

    parts: tuple[Condition, ...]


class Not(msgspec.Struct, frozen=True, tag="not", tag_field="is"):
    """The part does not hold."""

    part: Condition


class Foreign(msgspec.Struct, frozen=True, tag="foreign", tag_field="is"):
    """A text outside the grammar, kept as written: lint reports it, nothing evaluates it."""

    text: str
    fact: str
    offset: int = 0
    hint: str = ""
    language: str = ""
    """What it says it is written in, where that is another language."""


Atom = Compare | Among
Condition = Atom | Both | Either | Not | Foreign


def holds(condition: Condition, flags: Mapping[str, Scalar]) -> bool:
    """Whether the condition holds for these flags; a foreign one never does (deployment refuses it before).

    A flag that is not set equals nothing, is among nothing and is not ordered; `!=` is always the opposite of `=`.
    """
    match condition:
        case Compare(flag, operator, literal):
            return _compares(flags[flag], operator, literal) if flag in flags else operator == "!="
        case Among(flag, literals):
            return flag in flags and any(_same(flags[flag], each) for each in literals)
        case Both(parts):
            return all(holds(part, flags) for part in parts)
        case Either(parts):
            return any(holds(part, flags) for part in parts)
        case Not(part):
            return not holds(part, flags)
        case Foreign():
            return False
        case _:
            assert_never(condition)


def leaves(condition: Condition) -> Iterator[Atom | Foreign]:
    """The comparisons a condition is made of, and what of it is outside the grammar, in reading order."""
    match condition:
        case Compare() | Among() | Foreign():
            yield condition
        case Both(parts) | Either(parts):
            for part in parts:
                yield from leaves(part)
        case Not(part):
            yield from leaves(part)
        case _:
            assert_never(condition)


def atoms(condition: Condition) -> Iterator[Atom]:
    """The comparisons a condition is made of."""
    return (leaf for leaf in leaves(condition) if not isinstance(leaf, Foreign))


def flags_of(condition: Condition) -> frozenset[str]:
    """The flags a condition reads."""
    return frozenset(atom.flag for atom in atoms(condition))


def literals_of(atom: Atom) -> tuple[Scalar, ...]:
    return atom.literals if isinstance(atom, Among) else (atom.literal,)


def _same(value: Scalar, literal: Scalar) -> bool:
    return value == literal and isinstance(value, bool) == isinstance(literal, bool)


def _compares(value: Scalar, operator: Comparison, literal: Scalar) -> bool:
    match operator:
        case "=":
            return _same(value, literal)
        case "!=":
            return not _same(value, literal)
        case _:
            return _ordered(value, operator, literal)


def _ordered(value: Scalar, operator: Comparison, literal: Scalar) -> bool:
    if not isinstance(value, int) or not isinstance(literal, int):
        return False
    match operator:
        case "<":
            return value < literal
        case "<=":
            return value <= literal
        case ">":
            return value > literal
        case _:
            return value >= literal
