"""Conditions of the contract profile: the one grammar, over `state.<path>` instead of flags."""

from __future__ import annotations

import re
from typing import assert_never

import msgspec

from perdure.bpmn.conditions.parser import parse_condition
from perdure.bpmn.conditions.printer import show_condition
from perdure.bpmn.conditions.tokens import Word, words_of
from perdure.bpmn.conditions.tree import Among, Both, Compare, Condition, Either, Foreign, Not, atoms

_STAND_IN = "orch_state_path_"
_STANDS_IN = re.compile(r"orch_state_path_([0-9]+)")
_HINT = 'Compare what a path reaches with a literal, e.g. state.order.outcome = "approved".'


def parse_state_condition(text: str) -> Condition:
    """The tree of a condition over the state: `flag` of every comparison is a path, e.g. `state.order.outcome`.

    Both spellings of conditions are read. `Foreign` for everything outside the grammar, flags included.
    """
    paths: dict[str, int] = {}
    pieces, at = [], 0
    for start, end in _paths(words_of(text, 0, len(text))):
        number = paths.setdefault(text[start:end], len(paths))
        pieces += [text[at:start], f"{_STAND_IN}{number}"]
        at = end
    found = parse_condition("".join([*pieces, text[at:]]))
    return _with_paths(found, list(paths), text)


def state_condition(condition: Condition) -> Condition:
    """The same of a condition as the process model holds it."""
    match condition:
        case Foreign(text, language="" | "feel"):
            return parse_state_condition(text)
        case Foreign():
            return condition
        case _:
            return Foreign(show_condition(condition), "it reads a flag", hint=_HINT)


def condition_paths(condition: Condition) -> tuple[str, ...]:
    """The paths a condition over the state reads, each once."""
    return tuple(dict.fromkeys(atom.flag for atom in atoms(condition)))


def renamed(condition: Condition, names: dict[str, str]) -> Condition:
    """The condition with other names in it; every name must be among them."""
    match condition:
        case Compare() | Among():
            return msgspec.structs.replace(condition, flag=names[condition.flag])
        case Both(parts):
            return Both(tuple(renamed(part, names) for part in parts))
        case Either(parts):
            return Either(tuple(renamed(part, names) for part in parts))
        case Not(part):
            return Not(renamed(part, names))
        case Foreign():
            return condition
        case _:
            assert_never(condition)


def _paths(words: list[Word]) -> list[tuple[int, int]]:
    """Where `state.a.b` stand: names joined by dots without blanks, beginning with `state`."""
    found, at = [], 0
    while at < len(words):
        end = at
        if words[at].kind == "name" and words[at].text == "state":
            while _is_joined(words, end):
                end += 2
        if end > at:
            found.append((words[at].offset, words[end].offset + len(words[end].text)))
        at = end + 1
    return found


def _is_joined(words: list[Word], at: int) -> bool:
    if at + 2 >= len(words):
        return False
    dot, name = words[at + 1], words[at + 2]
    is_dot = dot.kind == "sign" and dot.text == "." and dot.offset == words[at].offset + len(words[at].text)
    return is_dot and name.kind == "name" and name.text.isascii() and name.offset == dot.offset + 1


def _with_paths(found: Condition, paths: list[str], text: str) -> Condition:
    if isinstance(found, Foreign):
        fact = _STANDS_IN.sub(lambda match: _named(match, paths), found.fact)
        hint = _STANDS_IN.sub(lambda match: _named(match, paths), found.hint)
        return Foreign(text, fact, min(found.offset, len(text)), _HINT if "orch_" in hint else hint)
    known = {f"{_STAND_IN}{number}": path for number, path in enumerate(paths)}
    flag = next((atom.flag for atom in atoms(found) if atom.flag not in known), None)
    return renamed(found, known) if flag is None else Foreign(text, f"it reads the flag '{flag}'", 0, _HINT)


def _named(match: re.Match[str], paths: list[str]) -> str:
    number = int(match[1])
    return paths[number] if number < len(paths) else match[0]
