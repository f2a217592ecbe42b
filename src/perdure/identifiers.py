"""Identifiers: sixteen bytes ordered by time, written as 26 letters; and the bounds of keys."""

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
    return Id((now // 1000 << 80 | tail_of(entropy)).to_bytes(16, "big"))


def tail_of(entropy: bytes) -> int:
    """The part of an id that ten bytes of chance give."""
    return int.from_bytes(entropy, "big") & _CHANCE | _VERSION


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


MAX_KEY_BYTES = 1000
"""Longest key, message id or tenant: every store must be able to index it."""


def key_fault(text: str) -> str:
    """Why a text cannot be a key; empty when it can."""
    try:
        length = len(text.encode())
    except UnicodeEncodeError:
        return "it has half a surrogate pair, which no store can keep"
    if not text:
        return "it is empty"
    if "\0" in text:
        return "it contains NUL"
    return f"it has {length:,} bytes and may have {MAX_KEY_BYTES:,}" if length > MAX_KEY_BYTES else ""


def check_key(do: str, thing: str, text: str) -> None:
    """Raises a rejection when a text cannot be stored as a key."""
    if fault := key_fault(text):
        shown = text[:80].encode(errors="replace").decode()
        raise RejectedError(Rejection("invalid", do, thing, shown, fault))
