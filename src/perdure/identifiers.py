"""Identifiers: sixteen bytes ordered by time, made from a moment and chance, written as 26 letters."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NewType

from perdure.errors import RejectedError, Rejection
from perdure.moments import Micros

Id = NewType("Id", bytes)
"""Sixteen bytes, ordered by the millisecond they were made in."""

ID_LENGTH = 26
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_LETTERS = re.compile(r"[0-7][0-9a-hjkmnp-tv-zA-HJKMNP-TV-Z]{25}")
_FROM_LETTERS = str.maketrans(_ALPHABET, "0123456789abcdefghijklmnopqrstuv")
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]
_SHIFTS = tuple(range(120, -1, -10))
_VERSION, _CHANCE = 0x7000_8000 << 48, 0x0FFF_3FFF << 48 | 0xFFFF_FFFF_FFFF


def make_id(now: Micros, entropy: bytes) -> Id:
    """A version 7 UUID's bytes from a time and ten bytes of chance."""
    tail = int.from_bytes(entropy, "big") & _CHANCE | _VERSION
    return Id((now // 1000 << 80 | tail).to_bytes(16, "big"))


@lru_cache(4096)
def id_text(id: bytes) -> str:
    """The 26 letters a person sees for an id."""
    number, pairs = int.from_bytes(id, "big"), _PAIRS
    return "".join([pairs[(number >> shift) & 1023] for shift in _SHIFTS])


def parse_id(text: str, thing: str = "call") -> Id:
    """The id behind its 26 letters; anything else is rejected as not found."""
    if _LETTERS.fullmatch(text):
        return Id(int(text.lower().translate(_FROM_LETTERS), 32).to_bytes(16, "big"))
    raise RejectedError(
        Rejection("not_found", "find", thing, text[:80], "that is not an id", f"Ids are {ID_LENGTH} letters.")
    )


def derive_id(now: Micros, seed: bytes) -> Id:
    """An id that the same seed always gives, for effects that must be announced once."""
    return make_id(now, seed[:10])
