"""From claims to beneficial owners: persons at or above the threshold, or the senior official when there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

import msgspec

from casework.ownership.claims import Anomaly, Claim, Party, holdings_at
from casework.ownership.gaps import Gap, gaps_of
from casework.ownership.shares import Owners, effective_shares

THRESHOLD = Fraction(1, 4)
MAX_PATHS = 20
MAX_STEPS = 20_000
SENIOR_ROLES = ("chief-executive", "managing-director", "chair", "director", "partner", "trustee")


class Officer(msgspec.Struct, frozen=True):
    name: str
    role: str


class Owner(msgspec.Struct, frozen=True):
    """What one party holds of the target in all, and the ways that lead there without a circle."""

    party: Party
    share: Fraction
    paths: tuple[tuple[str, ...], ...] = ()


class Ownership(msgspec.Struct, frozen=True):
    """Persons and termini by falling share. Their shares and those of the gaps add up to the whole."""

    target: Party
    as_of: str
    threshold: Fraction
    persons: tuple[Owner, ...]
    termini: tuple[Owner, ...]
    cycles: tuple[tuple[str, ...], ...]
    anomalies: tuple[Anomaly, ...]
    gaps: tuple[Gap, ...]
    names: Mapping[str, str] = {}
    """Of everybody above the target."""
    official: Officer | None = None

    @property
    def beneficial(self) -> tuple[Owner, ...]:
        return tuple(owner for owner in self.persons if owner.share >= self.threshold)

    @property
    def covered(self) -> Fraction:
        """How much of the target is accounted for."""
        return sum((owner.share for owner in (*self.persons, *self.termini)), Fraction(0))

    @property
    def is_complete(self) -> bool:
        """Nothing that is not known could hide an owner who counts, and somebody is named."""
        return not any(gap.is_blocking for gap in self.gaps)


def trace(
    target: str,
    claims: Iterable[Claim],
    parties: Mapping[str, Party],
    *,
    as_of: str,
    threshold: Fraction = THRESHOLD,
    officers: Iterable[Officer] = (),
) -> Ownership:
    """Who owns the target on a day. The order of claims makes no difference."""
    holdings = holdings_at(claims, as_of)

    def party(id: str) -> Party:
        return parties.get(id) or Party(id, id)

    def ends_at(id: str) -> bool:
        return party(id).kind == "person" or bool(party(id).terminus)

    effective = effective_shares(target, holdings.owners, ends_at)
    gaps = gaps_of(holdings, effective, ends_at, lambda id: party(id).name, threshold)
    paths = simple_paths(target, holdings.owners, ends_at)
    above = [
        Owner(party(id), share, tuple(paths.get(id, ())))
        for id, share in sorted(effective.shares.items(), key=lambda item: (-item[1], item[0]))
        if id != target and ends_at(id)
    ]
    reached = {edge.owned for edge in holdings.chosen.values()} & effective.shares.keys()
    found = Ownership(
        target=party(target),
        as_of=as_of,
        threshold=threshold,
        persons=tuple(owner for owner in above if owner.party.kind == "person"),
        termini=tuple(owner for owner in above if owner.party.kind != "person"),
        cycles=effective.knots,
        anomalies=tuple(each for each in holdings.anomalies if _concerned(each.id) in reached),
        gaps=gaps,
        names={id: party(id).name for id in sorted(effective.shares)},
    )
    return _with_official(found, officers)


def simple_paths(target: str, owners: Owners, ends_at: Callable[[str], bool]) -> dict[str, list[tuple[str, ...]]]:
    """Ways from each party down to the target that visit nobody twice; so many for each, and so many steps in all."""
    found: dict[str, list[tuple[str, ...]]] = {}
    waiting: list[tuple[str, ...]] = [(target,)]
    for _ in range(MAX_STEPS):
        if not waiting:
            break
        path = waiting.pop()
        known = found.setdefault(path[-1], [])
        if len(path) > 1 and ends_at(path[-1]):
            if len(known) < MAX_PATHS:
                known.append(path[::-1])
        else:
            onward = sorted(owners.get(path[-1], {}), reverse=True)
            waiting += [(*path, owner) for owner in onward if owner not in path]
    return {id: paths for id, paths in found.items() if paths}


def _concerned(anomaly: str) -> str:
    return anomaly.rpartition(":")[0].rpartition(">")[2]


def _with_official(found: Ownership, officers: Iterable[Officer]) -> Ownership:
    """Only when every way was followed to its end and nobody holds enough does the senior official stand in."""
    if found.beneficial or not found.is_complete:
        return found
    ranked = [officer for officer in officers if officer.role in SENIOR_ROLES]
    if not ranked:
        text = f"nobody owns enough of {found.target.name}, and its senior managing official is not known"
        gap = Gap(f"*>{found.target.id}:no_official", "no_official", found.target.id, text, is_blocking=True)
        return msgspec.structs.replace(found, gaps=(*found.gaps, gap))
    first = min(ranked, key=lambda officer: (SENIOR_ROLES.index(officer.role), officer.name))
    return msgspec.structs.replace(found, official=first)
