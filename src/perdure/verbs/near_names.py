"""The valid name that someone probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from heapq import nlargest
from itertools import pairwise

MAX_CANDIDATES = 5000
MAX_WORD = 100
COMPARED = 20


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate most like `word` when one is alike enough; hyphens, underscores and case do not count."""
    by_key: dict[str, str] = {}
    for candidate in candidates:
        if len(by_key) >= MAX_CANDIDATES:
            break
        by_key.setdefault(_key(candidate), candidate)
    wanted = _key(word[:MAX_WORD])
    # Comparing closely is slow; letters and pairs in common show cheaply who is worth it.
    traits = _traits(wanted)
    likely = nlargest(COMPARED, by_key, key=lambda key: len(traits & _traits(key)))
    matches = get_close_matches(wanted, likely, n=1, cutoff=0.65)
    return by_key[matches[0]] if matches else None


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """The hint sentence for an unknown word; empty when nothing is near."""
    found = nearest(word, candidates)
    return f"Did you mean '{found}'?" if found is not None else ""


def _key(word: str) -> str:
    return word.lower().replace("-", "_").lstrip(":")


def _traits(word: str) -> set[str]:
    return {*word, *map("".join, pairwise(word[:MAX_WORD]))}
