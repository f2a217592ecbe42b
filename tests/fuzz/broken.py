"""Parsers that are broken on purpose: they show that the fuzzing notices a crash, a hang and unbounded memory."""

from __future__ import annotations

from collections.abc import Callable


def crashes(data: bytes) -> None:
    if data[:1] == b"!":
        raise KeyError("the parser fell over")


def hangs(data: bytes) -> None:
    while data[:1] == b"!":
        pass


def swells(data: bytes) -> None:
    kept: list[bytes] = []
    while data[:1] == b"!" and len(kept) < 100:
        kept.append(b"!" * 20_000_000)
        sum(range(1_000_000))  # slow enough to be caught in the act


BROKEN: dict[str, Callable[[bytes], None]] = {each.__name__: each for each in (crashes, hangs, swells)}
