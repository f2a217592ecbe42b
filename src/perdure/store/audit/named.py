"""Which payloads a state needs, and which its history ever spoke of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from perdure.runbooks.state import Runbook

HASH_BYTES = 32


class Named(NamedTuple):
    """The hashes a state needs bytes for; none when its data was erased."""

    needed: frozenset[bytes]
    is_erased: bool


def named_by(machine: Any, state: Any) -> Named:
    """What a state names. A machine of another kind says so itself, by a method `payloads(state)`."""
    if isinstance(state, Runbook):
        return _named_by_runbook(state)
    if hasattr(machine, "payloads"):
        needed, is_erased = machine.payloads(state)
        return Named(frozenset(needed), is_erased)
    return Named(frozenset(), False)


def _named_by_runbook(state: Runbook) -> Named:
    if state.erased_at:
        return Named(frozenset(), True)
    hashes = {step.input for step in state.steps}
    hashes.update(step.result for step in state.steps if step.result is not None)
    hashes.update(amendment.hash for amendment in state.amendments)
    return Named(frozenset(hashes), False)


def hashes_in(value: Any) -> Iterator[bytes]:
    """Every hash an entry mentions, at any depth."""
    if isinstance(value, bytes):
        if len(value) == HASH_BYTES:
            yield value
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from hashes_in(each)
    elif isinstance(value, dict):
        yield from hashes_in(tuple(value.values()))
    elif hasattr(value, "__struct_fields__"):
        yield from hashes_in(tuple(getattr(value, field) for field in value.__struct_fields__))
