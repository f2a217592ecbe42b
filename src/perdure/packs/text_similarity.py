"""Text similarity: scores of phrases, and the threshold for a match."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Generic, Literal, TypeVar

import msgspec

Thing = TypeVar("Thing")
Verdict = Literal["strong", "weak", "ambiguous", "none"]

STOP_WORDS = frozenset(
    ["a", "an", "the", "for", "of", "to", "on", "in", "with", "and", "please", "me", "my", "i", "we", "want", "would"]
) | frozenset(["like", "need", "let", "lets", "us", "s", "it", "this", "that", "do"])
MAX_SPEECH = 500
MAX_WORDS = 40
_PLACE = re.compile(r"\{([^{}\s]{1,100})\}")
_WORD = re.compile(r"[^\W_]+")


class Scoring(msgspec.Struct, frozen=True):
    """The policy; all of it can be changed."""

    in_pack: float = 0.10
    out_of_pack: float = -0.05
    next_step: float = 0.15
    domain: float = 0.03
    least: float = 0.55
    strong: float = 0.70
    margin: float = 0.05
    rejected_turns: int = 3


class Candidate(msgspec.Struct, Generic[Thing], frozen=True):
    """Something that may be meant, how much it is, and what the words already said about it."""

    thing: Thing
    score: float
    captured: dict[str, str] = {}


class Ranking(msgspec.Struct, Generic[Thing], frozen=True):
    """Candidates, best first. Strong: take it; weak: ask whether; ambiguous: ask which; none: ask what."""

    verdict: Verdict
    candidates: tuple[Candidate[Thing], ...]

    @property
    def best(self) -> Candidate[Thing] | None:
        return self.candidates[0] if self.candidates else None


def rank(candidates: Iterable[Candidate[Thing]], scoring: Scoring, limit: int = 5) -> Ranking[Thing]:
    """Drops what is not alike enough and says how sure the rest is."""
    kept = sorted((each for each in candidates if each.score >= scoring.least), key=lambda each: -each.score)
    if not kept:
        return Ranking("none", ())
    # Beyond the margin the best stands alone; inside it nobody guesses.
    close = [each for each in kept if kept[0].score - each.score < scoring.margin]
    if len(close) > 1:
        return Ranking("ambiguous", tuple(kept[:limit]))
    return Ranking("strong" if kept[0].score >= scoring.strong else "weak", tuple(kept[:limit]))


class Speech:
    """What was said, taken apart once to be compared with many phrases."""

    def __init__(self, said: str) -> None:
        self.said = said[:MAX_SPEECH]
        self.words = words(said)
        self._every = set(_WORD.findall(self.said.lower()))
        self._known: dict[tuple[str, str], float] = {}

    def likeness(self, phrase: str) -> tuple[float, dict[str, str]]:
        """From 0 to 1, and what the phrase's `{names}` took from what was said."""
        literal = _PLACE.sub(" ", phrase)
        captured = capture(self.said, phrase) if self._every.issuperset(_WORD.findall(literal.lower())) else None
        if captured is not None:
            return 1.0, captured
        wanted, given = words(literal), self.words
        if not wanted or not given:
            return 0.0, {}
        of_phrase = sum(self._nearest(word, given) for word in wanted) / len(wanted)
        if not of_phrase:
            return 0.0, {}
        of_speech = 1.0 if _PLACE.search(phrase) else sum(self._nearest(word, wanted) for word in given) / len(given)
        return round(of_phrase * (1 + of_speech) / 2, 4), {}

    def best(self, phrases: Iterable[str]) -> tuple[float, dict[str, str]]:
        """The phrase most like it; among equals the one that took the most from what was said."""
        found = (self.likeness(phrase) for phrase in phrases)
        return max(found, key=lambda pair: (pair[0], len(pair[1])), default=(0.0, {}))

    def _nearest(self, word: str, others: Iterable[str]) -> float:
        return max((self._alike(word, other) for other in others), default=0.0)

    def _alike(self, one: str, other: str) -> float:
        if one == other:
            return 1.0
        # Closer looks are slow; who does not begin alike is not mistyped but another word.
        if one[0] != other[0] or min(len(one), len(other)) < 4:
            return 0.0
        pair = (one, other) if one < other else (other, one)
        if pair not in self._known:
            self._known[pair] = _closeness(*pair)
        return self._known[pair]


def capture(said: str, phrase: str) -> dict[str, str] | None:
    """What `{names}` of a phrase stand for in what was said; None when the words do not follow it."""
    pattern, at = "", 0
    names: list[str] = []
    for match in _PLACE.finditer(phrase):
        pattern += _literal(phrase[at : match.start()]) + r"(.+?)"
        names.append(match[1].replace("-", "_"))
        at = match.end()
    pattern += _literal(phrase[at:])
    found = re.fullmatch(rf"\s*(?:please\s+)?{pattern}\s*[.!?]*\s*", said[:MAX_SPEECH], re.IGNORECASE)
    if found is None:
        return None
    return dict(zip(names, (group.strip(" \"'") for group in found.groups()), strict=True))


def words(text: str) -> list[str]:
    """The words that say something, each once."""
    found = [_stem(each) for each in _WORD.findall(text[:MAX_SPEECH].lower())]
    kept = [each for each in found if each not in STOP_WORDS] or found
    return list(dict.fromkeys(kept))[:MAX_WORDS]


def _literal(text: str) -> str:
    parts = [re.escape(part) for part in text.split()]
    before = r"\s*" if text[:1].isspace() or not text else ""
    return before + r"\s+".join(parts) + (r"\s+" if text[-1:].isspace() and parts else "")


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _closeness(one: str, other: str) -> float:
    if one.startswith(other) or other.startswith(one):
        return 0.85
    if abs(len(one) - len(other)) > 2:
        return 0.0
    return 0.8 if SequenceMatcher(None, one, other).ratio() >= 0.84 else 0.0
