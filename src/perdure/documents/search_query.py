"""The query language of document search, the same on every store.

| written | finds texts |
|---|---|
| `anna schmidt` | with both words |
| `schm*` | with a word that begins so |
| `passport|visa` | with one word or the other |
| `-draft` | without that word; at least one other word must be looked for |
| `AB-1234` | with the words of it: whatever is neither letter nor digit parts words |

Case and accents do not count.
"""

from __future__ import annotations

from typing import NamedTuple

from perdure.documents.machine.text_words import split_words
from perdure.errors import RejectedError, Rejection

MAX_TERMS = 20


class Term(NamedTuple):
    """A word, or the beginning of one."""

    word: str
    is_beginning: bool = False


class SearchQuery(NamedTuple):
    """A text has one term of every group of `wanted` and none of `unwanted`."""

    wanted: tuple[tuple[Term, ...], ...]
    unwanted: tuple[Term, ...] = ()


def parse_search(text: str) -> SearchQuery:
    """The query that a text stands for; a rejection says what is wrong with it."""
    wanted: list[tuple[Term, ...]] = []
    unwanted: list[Term] = []
    for part in text.split():
        if part.startswith("-") and len(part) > 1:
            unwanted.extend(_terms(part[1:]))
        elif "|" in part:
            choices = tuple(term for choice in part.split("|") for term in _terms(choice))
            wanted.extend([choices] if choices else [])
        else:
            wanted.extend((term,) for term in _terms(part))
    if not wanted:
        raise _refused(text, "it looks for no word", "Write words with letters or digits, as `anna schm*`.")
    if len(wanted) + len(unwanted) > MAX_TERMS:
        raise _refused(text, f"it has more than {MAX_TERMS} words", "Write fewer.")
    return SearchQuery(tuple(wanted), tuple(unwanted))


def _terms(part: str) -> list[Term]:
    words = list(split_words(part))
    terms = [Term(word) for word in words]
    if words and part.endswith("*"):
        terms[-1] = Term(words[-1], True)
    return terms


def _refused(text: str, fact: str, hint: str) -> RejectedError:
    return RejectedError(Rejection("invalid", "search for", "words", text[:80], fact, hint))
