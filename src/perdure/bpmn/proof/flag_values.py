"""Flags as a proof sees them: values that no condition can tell apart are one, and a value nobody read is open."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import msgspec

from perdure.bpmn.conditions.tree import Atom, Scalar, holds, literals_of
from perdure.verb_contract import FlagContract

OTHER = "another value"
"""Stands for every text that no condition names."""


class OpenValueError(Exception):
    """Somebody read a value that is still open: the reader must go on once with each value it may have."""

    def __init__(self, flag: str, is_new: bool) -> None:
        super().__init__(flag)
        self.flag, self.is_new = flag, is_new


class Open(int):
    """A flag whose value was not looked at yet. Whoever compares it learns that it must be chosen first."""

    flag: str
    is_new: bool

    def __new__(cls, flag: str, is_new: bool = False) -> Open:
        made = super().__new__(cls, 0)
        made.flag, made.is_new = flag, is_new
        return made

    def _read(self, *_: object) -> NoReturn:
        raise OpenValueError(self.flag, self.is_new)

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __add__ = __radd__ = __bool__ = _read
    __str__ = __index__ = __int__ = _read
    __hash__ = int.__hash__


class Domain(msgspec.Struct, frozen=True, kw_only=True):
    """The values of one flag, one for each class that conditions tell apart; `initial` is None when it is open.

    A flag whose text the engine itself uses (a duration, a key, an assignee) `is_eager`: it is chosen when written.
    """

    name: str
    values: tuple[Scalar, ...]
    initial: Scalar | None = None
    is_eager: bool = False


def domain_of(
    name: str, contract: FlagContract | None, met: Iterable[Atom], kept: tuple[Scalar, ...] = (), is_eager: bool = False
) -> Domain:
    """The classes of a flag's values. `kept` are values that must stay apart although no condition tells them."""
    known = tuple(met)
    # A flag that an argument sets may begin with any of its values.
    initial = contract.starting_value() if contract is not None and not contract.argument else None
    if initial is not None and contract is not None and contract.fault(initial) is not None:
        initial = None
    candidates = _candidates(contract, known, kept)
    if initial is not None:
        candidates = (initial, *candidates)
    classes: dict[Any, Scalar] = {}
    for value in candidates:
        classes.setdefault(_signature(name, value, known, kept), value)
    first = None if initial is None else classes[_signature(name, initial, known, kept)]
    return Domain(name=name, values=tuple(classes.values()), initial=first, is_eager=is_eager)


def member(domain: Domain, value: Scalar, met: Iterable[Atom]) -> Scalar:
    """The value of a domain that stands for one that a flag really has; itself where the domain knows none like it."""
    if any(value == each and type(value) is type(each) for each in domain.values):
        return value
    if domain.is_eager:
        return domain.values[0] if isinstance(value, str) and value else value
    known = tuple(met)
    told = _signature(domain.name, value, known, ())
    same = (each for each in reversed(domain.values) if type(each) is type(value))
    return next((each for each in same if _signature(domain.name, each, known, ()) == told), value)


def _signature(name: str, value: Scalar, met: tuple[Atom, ...], kept: tuple[Scalar, ...]) -> Any:
    told = tuple(holds(atom, {name: value}) for atom in met)
    return told, (value if value in kept and not isinstance(value, bool) else None)


def _candidates(contract: FlagContract | None, met: tuple[Atom, ...], kept: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    literals = tuple(literal for atom in met for literal in literals_of(atom))
    match contract.type if contract is not None else _type_of(literals, kept):
        case "boolean":
            return (False, True)
        case "enum":
            assert contract is not None
            return contract.values
        case "integer":
            whole = [each for each in (*literals, *kept) if isinstance(each, int)]
            near = {each + step for each in whole if each not in kept for step in (-1, 0, 1)}
            return tuple(sorted({*near, *(each for each in kept if isinstance(each, int))} or {0}))
        case _:
            return (*(each for each in (*kept, *literals) if isinstance(each, str)), *(() if kept else (OTHER,)))


def _type_of(literals: tuple[Scalar, ...], kept: tuple[Scalar, ...]) -> str:
    if any(isinstance(each, bool) for each in literals):
        return "boolean"
    return "integer" if any(isinstance(each, int) for each in (*literals, *kept)) else "string"
