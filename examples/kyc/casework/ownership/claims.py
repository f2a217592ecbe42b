"""Claims of ownership: who says that whom holds how much of what, and which claim counts when they differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Literal

import msgspec

Confidence = Literal["high", "medium", "low"]
RANK: Mapping[str, int] = {"high": 3, "medium": 2, "low": 1}
WHOLE = Fraction(1)


class Party(msgspec.Struct, frozen=True):
    """A person or an entity. Of a `terminus` (listed, regulated) nobody asks who stands behind it."""

    id: str
    name: str
    kind: Literal["person", "entity"] = "entity"
    terminus: str = ""


class Claim(msgspec.Struct, frozen=True):
    """One source's word. Without a share it says that there is a holding and not how large it is."""

    owner: str
    owned: str
    share: Fraction | None
    source: str
    confidence: Confidence = "medium"
    since: str = ""
    until: str = ""

    @property
    def edge(self) -> str:
        return f"{self.owner}>{self.owned}"

    def holds_at(self, day: str) -> bool:
        """Whether it says something about that day (ISO 8601, both ends included)."""
        return (not self.since or self.since <= day) and (not self.until or day <= self.until)


class Anomaly(msgspec.Struct, frozen=True):
    """Something that does not fit together; nothing is thrown away because of it."""

    id: str
    kind: Literal["conflicting_shares", "more_than_whole"]
    text: str
    claims: tuple[Claim, ...] = ()


class Holdings(msgspec.Struct, frozen=True):
    """Whom each entity belongs to, by the claims that count."""

    owners: Mapping[str, Mapping[str, Fraction]]
    chosen: Mapping[str, Claim]
    """The claim that counts, by edge."""
    anomalies: tuple[Anomaly, ...]


def holdings_at(claims: Iterable[Claim], day: str) -> Holdings:
    """What holds on a day, whatever order the claims come in."""
    by_edge: dict[str, set[Claim]] = {}
    for claim in claims:
        if claim.holds_at(day):
            by_edge.setdefault(claim.edge, set()).add(claim)
    chosen = {edge: max(by_edge[edge], key=_weight) for edge in sorted(by_edge)}
    owners: dict[str, dict[str, Fraction]] = {}
    for claim in chosen.values():
        if claim.share:
            owners.setdefault(claim.owned, {})[claim.owner] = claim.share
    conflicts = [found for edge in sorted(by_edge) if (found := _conflict(edge, by_edge[edge])) is not None]
    excesses = [_excess(owned, owners) for owned in sorted(owners) if sum(owners[owned].values()) > WHOLE]
    return Holdings(owners, chosen, (*conflicts, *excesses))


def _weight(claim: Claim) -> tuple[bool, int, str, str, Fraction, str]:
    """A share beats none, confidence beats age; the rest only makes the choice the same every time."""
    share = claim.share if claim.share is not None else Fraction(0)
    return claim.share is not None, RANK[claim.confidence], claim.since, claim.source, share, claim.until


def _conflict(edge: str, claims: set[Claim]) -> Anomaly | None:
    said = sorted((claim for claim in claims if claim.share is not None), key=_weight, reverse=True)
    if len({claim.share for claim in said}) < 2:
        return None
    text = " and ".join(f"{claim.source} says {percent(claim.share or Fraction(0))} %" for claim in said)
    return Anomaly(f"{edge}:conflicting_shares", "conflicting_shares", text, tuple(said))


def _excess(owned: str, owners: dict[str, dict[str, Fraction]]) -> Anomaly:
    """More than the whole cannot be owned: the shares are reduced in proportion, and a person has to look."""
    total = sum(owners[owned].values(), Fraction(0))
    owners[owned] = {owner: share / total for owner, share in owners[owned].items()}
    return Anomaly(f"*>{owned}:more_than_whole", "more_than_whole", f"its shares add up to {percent(total)} %")


def percent(share: Fraction) -> str:
    """For people: two digits at most, exact where that is enough."""
    text = f"{float(share * 100):.2f}"
    return text.rstrip("0").rstrip(".")
