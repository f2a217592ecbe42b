"""Names of waits: which ones are meant, whatever comes to wait under the same key later."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from perdure.errors import RejectedError
from perdure.kernel.ports import Found
from perdure.sources import Id, id_text, parse_id

NOTHING = "-"
"""The name of no wait at all: where none can be named, nothing is ended."""


class Place(msgspec.Struct, frozen=True):
    """One wait: the call or runbook, the step, and how many times that step had waited."""

    aggregate: Id
    step: int
    token: int


class Named(msgspec.Struct, frozen=True):
    """What a name stands for: waits of calls, and those shared ones that began no later than `upto`."""

    places: tuple[Place, ...] = ()
    upto: int = 0


def name_of(waits: Iterable[Found], upto: int = 0) -> str:
    """A name for waits, and for all shared ones up to a number."""
    parts = [f"{id_text(each.aggregate)}:{each.step}.{each.token}" for each in waits]
    return ",".join([*parts, *([f"#{upto}"] if upto else [])]) or NOTHING


def read_name(text: str) -> Named:
    """What a name stands for; what is none stands for nothing."""
    places: list[Place] = []
    upto = 0
    for part in text.split(","):
        letters, _, place = part.partition(":")
        step, _, token = place.partition(".")
        try:
            if part.startswith("#"):
                upto = int(part[1:])
            else:
                places.append(Place(parse_id(letters), int(step), int(token)))
        except (ValueError, RejectedError):
            continue
    return Named(tuple(places), upto)
