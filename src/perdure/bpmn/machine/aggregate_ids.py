"""Aggregate ids of processes and instances: their kinds, their index and ids derived from names."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256

from perdure.identifiers import Id, derive_id, parse_id

INSTANCE = "instance"
PROCESS = "process"
INDEX = "perdure:instance"
"""The index under which instances are found by their process and their business key."""


def child_id(tenant: str, parent: str) -> Id:
    """The id of the instance that a step or a call activity begins: the same however often it is begun."""
    letters = parent.split(":")[1]
    millis = int.from_bytes(parse_id(letters)[:6], "big")
    return derive_id(millis * 1000, sha256(f"{tenant}\0{parent}".encode()).digest())


@lru_cache(4096)
def process_id(tenant: str, process: str) -> Id:
    """The aggregate of a process: the same wherever and by whomever it is deployed."""
    return Id(sha256(f"{tenant}\0process\0{process}".encode()).digest()[:16])
