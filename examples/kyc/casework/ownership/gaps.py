"""What is not known about an ownership, each with an id that stays the same, and what to ask about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Literal

import msgspec

from casework.ownership.claims import WHOLE, Holdings, percent
from casework.ownership.shares import Effective

GapType = Literal["owners_unknown", "share_unknown", "circular", "low_confidence", "no_official"]
MAX_ASKS = 8
"""So many things are asked of one entity at once, and no more."""


class Gap(msgspec.Struct, frozen=True):
    """`share` is how much of the target is in doubt; a blocking gap might hide an owner who counts."""

    id: str
    type: GapType
    entity: str
    text: str
    share: Fraction = Fraction(0)
    is_blocking: bool = False


def gaps_of(
    holdings: Holdings, effective: Effective, ends_at: Callable[[str], bool], named: Callable[[str], str],
    threshold: Fraction,
) -> tuple[Gap, ...]:  # fmt: skip
    """Every gap above the target, in the order of their ids."""
    found = [*_missing(holdings, effective, ends_at, named), *_doubts(holdings, effective, ends_at, named)]
    is_hiding = sum((gap.share for gap in found), Fraction(0)) >= threshold
    marked = (
        msgspec.structs.replace(gap, is_blocking=True)
        if is_hiding and gap.type in ("owners_unknown", "circular")
        else gap
        for gap in found
    )
    return tuple(sorted(marked, key=lambda gap: gap.id))


def _missing(
    holdings: Holdings, effective: Effective, ends_at: Callable[[str], bool], named: Callable[[str], str]
) -> Iterable[Gap]:
    in_circle = {party for knot in effective.closed for party in knot}
    for knot in effective.closed:
        share = sum((effective.shares.get(party, Fraction(0)) for party in knot), Fraction(0))
        text = f"{' and '.join(named(party) for party in knot)} own each other, and nobody else owns them"
        yield Gap(f"{knot[0]}>{knot[-1]}:circular", "circular", knot[0], text, share)
    for party, share in effective.shares.items():
        if ends_at(party) or party in in_circle:
            continue
        missing = WHOLE - sum(holdings.owners.get(party, {}).values(), Fraction(0))
        if missing > 0:
            text = f"who holds {percent(missing)} % of {named(party)} is not known"
            yield Gap(f"*>{party}:owners_unknown", "owners_unknown", party, text, share * missing)


def _doubts(
    holdings: Holdings, effective: Effective, ends_at: Callable[[str], bool], named: Callable[[str], str]
) -> Iterable[Gap]:
    for edge, claim in holdings.chosen.items():
        if claim.owned not in effective.shares or ends_at(claim.owned):
            continue
        if claim.share is None:
            text = f"{claim.source} says that {named(claim.owner)} holds {named(claim.owned)}, and not how much of it"
            yield Gap(f"{edge}:share_unknown", "share_unknown", claim.owned, text)
        elif claim.confidence == "low":
            holds = f"{named(claim.owner)} holds {percent(claim.share)} % of {named(claim.owned)}"
            text = f"only {claim.source} says that {holds}"
            yield Gap(f"{edge}:low_confidence", "low_confidence", claim.owned, text)


def outreach(gaps: Iterable[Gap]) -> Mapping[str, tuple[str, ...]]:
    """What to ask, bundled by the entity it is asked of; the gravest first, at most eight at once."""
    asks: dict[str, list[Gap]] = {}
    for gap in sorted(gaps, key=lambda each: (not each.is_blocking, -each.share, each.id)):
        asks.setdefault(gap.entity, []).append(gap)
    return {entity: tuple(gap.id for gap in found[:MAX_ASKS]) for entity, found in asks.items()}
