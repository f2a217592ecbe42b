"""Bridge rows: inbox rows that are work between an engine outside and our journal; their names tell whose they are.

A row's name begins, up to the first `/`, with `perdure:WORD.ENGINE`. Engines that are named by their url alone have
`perdure:WORD`, as every store had that was opened before engines had names.
"""

from __future__ import annotations

from typing import Literal

Scheme = Literal["temporal", "camunda"]
PREFIX = "perdure:"
WORDS: dict[Scheme, str] = {"temporal": "dispatch", "camunda": "camunda"}


def beginning(scheme: Scheme, engine: str) -> str:
    """How the names of the rows of an engine begin."""
    word = PREFIX + WORDS[scheme]
    return word if engine == scheme else f"{word}.{engine}"


def engine_of(begins: str) -> str:
    """The engine whose rows begin like that."""
    word, _, engine = begins.removeprefix(PREFIX).partition(".")
    return engine or next(scheme for scheme, each in WORDS.items() if each == word)
