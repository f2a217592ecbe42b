"""A kind of guard: its parameters, the facts it asks for, and how it judges them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

ParameterType = Literal["text", "integer", "texts", "value", "values", "mapping", "boolean"]

Facts = Mapping[str, Any]
"""Facts by their keys; None stands for nothing."""
Params = Mapping[str, Any]
"""The parameters of a guard with their names resolved."""


class Parameter(msgspec.Struct, frozen=True):
    """A parameter of a kind of guard."""

    name: str
    type: ParameterType
    description: str
    is_required: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()
    minimum: int = 0


class Judgement(msgspec.Struct, frozen=True):
    """Whether a guard holds, every piece that is missing, and when time alone may change that (0: never).

    An undecided guard is closed, and so is `not` around it: what could not be looked at opens nothing. `holds_off` says
    why nobody is asked again by itself for now: what was asked for is there and waits for a decision, or was refused
    for good.
    """

    holds: bool
    missing: tuple[str, ...] = ()
    changes_at: int = 0
    is_undecided: bool = False
    holds_off: str = ""


HOLDS = Judgement(True)


class GuardKind(msgspec.Struct, frozen=True):
    """A plug-in. All functions are pure; what `facts` names is all that `judge` may look at."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    facts: Callable[[Params], tuple[str, ...]]
    judge: Callable[[Params, Facts, int], Judgement]
    key: Callable[[Params], str]
    """What a requirement of this kind is called, unless its author names it."""
    blocker: str = "Custom"
    """The type of the blocker, unless its author names it."""
    aliases: tuple[str, ...] = ()
    fields: Callable[[Params], tuple[str, ...]] = lambda params: ()
    """The fields of records that it looks at: of a record, only these are kept with a decision."""
    example: str = ""

    def parameter(self, name: str) -> Parameter | None:
        return next((each for each in self.parameters if each.name == name), None)

    def with_defaults(self, params: Params) -> dict[str, Any]:
        defaults = {each.name: each.default for each in self.parameters if each.default is not None}
        return {**defaults, **params}


def closed(*missing: str, changes_at: int = 0, holds_off: str = "") -> Judgement:
    return Judgement(False, missing, changes_at, holds_off=holds_off)


def all_hold_off(judged: Sequence[Judgement]) -> str:
    """Why nobody is asked again for several guards together: each one that is closed has a reason."""
    reasons = [each.holds_off for each in judged if not each.holds]
    return "; ".join(reasons) if reasons and all(reasons) else ""


def undecided(missing: str) -> Judgement:
    return Judgement(False, (missing,), is_undecided=True)
