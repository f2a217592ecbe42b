"""Words of texts: one way to tell words apart, so that every store finds the same documents by them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

MAX_WORD = 64
"""Letters of a word that count."""
MAX_WORDS = 20_000
"""Different words of one text that can be found."""


def text_words(type: str, subject: str, bodies: Sequence[bytes]) -> str:
    """The words of a type, a subject and JSON texts: each once, in their order."""
    found = set(split_words(type)) | set(split_words(subject)) | {whole_word(subject)}
    for body in bodies:
        for text in _texts(msgspec.json.decode(body)):
            found.update(split_words(text))
            if len(found) > MAX_WORDS:
                break
    found.discard("")
    return " ".join(sorted(found)[:MAX_WORDS])


def split_words(text: str) -> Iterator[str]:
    """The words of a text: runs of letters and digits without case, accents and compatibility forms."""
    word: list[str] = []
    for letter in _plain(text):
        if letter.isalnum():
            word.append(letter)
        elif word:
            yield "".join(word)[:MAX_WORD]
            word = []
    if word:
        yield "".join(word)[:MAX_WORD]


def whole_word(text: str) -> str:
    """A text as one word, as an id of several parts."""
    return "".join(letter for letter in _plain(text) if letter.isalnum())[:MAX_WORD]


def _plain(text: str) -> str:
    """Decomposed twice: folding case may compose letters again."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(letter for letter in folded if not unicodedata.combining(letter))


def _texts(value: Any) -> Iterable[str]:
    """Every text and number of a JSON value; the names of fields are none."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, (int, float)):
        yield str(value)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
