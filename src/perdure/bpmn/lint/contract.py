"""The contract of a durable verb, as lint and proof need it; the app builds it from the catalogue."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from perdure.verb_contract import FlagContract

Effects = Literal["none", "store", "external"]


class VerbContract(msgspec.Struct, frozen=True, kw_only=True):
    """One verb a process may call. None means: not declared, so nothing is concluded from it."""

    name: str
    is_durable: bool = False
    effects: Effects = "external"
    writes_flags: tuple[str, ...] | None = None
    """The flags it writes; None: every flag whose contract names no writers."""
    errors: tuple[str, ...] | None = None
    """The business error codes it may raise."""
    outputs: tuple[str, ...] | None = None
    """The fields of the payload it writes."""


class Contract(msgspec.Struct, frozen=True, kw_only=True):
    """What a durable verb declares about the process that carries it."""

    verb: str
    process: str
    sub_verbs: tuple[str, ...] = ()
    compensation: dict[str, str] = {}
    """The compensating verb of each sub-verb that has one."""
    flags: tuple[FlagContract, ...] = ()
    verbs: tuple[VerbContract, ...] = ()
    """Every verb that exists, or at least every one named by this contract."""
    processes: tuple[str, ...] = ()
    """The ids of the processes that may be called."""
    callables: tuple[str, ...] = ()
    """What script tasks of the open profile may name."""
    merged: tuple[str, ...] = ()
    """Fields of the payload that have a merge rule."""

    def allowed(self) -> frozenset[str]:
        """The verbs the process may call: the sub-verbs and what compensates them."""
        return same_names((*self.sub_verbs, *self.compensation.values()))


def same_name(name: str) -> str:
    """The key under which the hyphen and underscore spellings of a verb name meet."""
    return name.replace("_", "-")


def same_names(names: Iterable[str]) -> frozenset[str]:
    return frozenset(map(same_name, names))
