"""Shares of owners are exact, complete and the same in any order, whatever circles there are."""

from __future__ import annotations

from fractions import Fraction

import pytest
from casework.ownership import Claim, Ownership, Party, trace
from hypothesis import given, settings
from hypothesis import strategies as st

DAY = "2026-01-02"
ENTITIES = [f"e{number}" for number in range(6)]
PERSONS = [f"p{number}" for number in range(4)]
PARTIES = {**{id: Party(id, id) for id in ENTITIES}, **{id: Party(id, id, "person") for id in PERSONS}}


@st.composite
def structures(draw: st.DrawFn, is_closed: bool) -> list[Claim]:
    """Every entity's shares add up to the whole, or to less; anybody may hold anybody."""
    claims: list[Claim] = []
    for owned in ENTITIES:
        weights = draw(st.dictionaries(st.sampled_from([*ENTITIES, *PERSONS]), st.integers(1, 7), max_size=4))
        rest = 0 if is_closed else draw(st.integers(0, 5))
        total = sum(weights.values()) + rest
        claims += [
            Claim(owner, owned, Fraction(weight, total), "register", "high") for owner, weight in weights.items()
        ]
    return claims


def shares(found: Ownership) -> dict[str, Fraction]:
    return {owner.party.id: owner.share for owner in (*found.persons, *found.termini)}


@settings(deadline=None, max_examples=80)
@given(st.booleans().flatmap(structures))
def test_owners_and_gaps_account_for_exactly_the_whole(claims: list[Claim]) -> None:
    found = trace("e0", claims, PARTIES, as_of=DAY)
    unknown = sum((gap.share for gap in found.gaps), Fraction(0))
    assert found.covered + unknown == 1
    assert all(0 < owner.share <= 1 for owner in found.persons) and 0 <= found.covered <= 1


@settings(deadline=None, max_examples=40)
@given(structures(is_closed=False), st.randoms(use_true_random=False))
def test_the_order_of_claims_makes_no_difference(claims: list[Claim], random: object) -> None:
    shuffled = list(claims)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert trace("e0", claims, PARTIES, as_of=DAY) == trace("e0", shuffled, PARTIES, as_of=DAY)


@settings(deadline=None, max_examples=40)
@given(structures(is_closed=False))
def test_effective_shares_are_what_endless_walks_approach(claims: list[Claim]) -> None:
    """Walk upward from the target again and again, adding up who is reached: floats come as close as they can."""
    owners: dict[str, dict[str, float]] = {}
    for claim in claims:
        owners.setdefault(claim.owned, {})[claim.owner] = float(claim.share or 0)
    reached, front = dict.fromkeys(PERSONS, 0.0), {"e0": 1.0}
    for _ in range(1500):
        onward: dict[str, float] = {}
        for party, amount in front.items():
            for owner, share in owners.get(party, {}).items():
                target = reached if owner in PERSONS else onward
                target[owner] = target.get(owner, 0.0) + amount * share
        front = onward
    exact = shares(trace("e0", claims, PARTIES, as_of=DAY))
    assert all(abs(reached[person] - float(exact.get(person, 0))) < 1e-3 for person in PERSONS)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.sampled_from(ENTITIES), min_size=1, max_size=6, unique=True))
def test_a_ring_ends_and_is_flagged(ring: list[str]) -> None:
    claims = [Claim(ring[i - 1], owned, Fraction(1), "register") for i, owned in enumerate(ring)]
    found = trace(ring[0], claims, PARTIES, as_of=DAY)
    assert found.cycles == (tuple(sorted(ring)),) and not found.persons and not found.is_complete
    assert [gap.type for gap in found.gaps] == ["circular"]


def test_a_cross_holding_makes_those_outside_own_more() -> None:
    claims = [
        Claim("e1", "e0", Fraction(1), "register"),
        Claim("e0", "e1", Fraction(5, 100), "register"),
        Claim("p0", "e1", Fraction(57, 100), "register"),
        Claim("p1", "e1", Fraction(38, 100), "register"),
    ]
    found = trace("e0", claims, PARTIES, as_of=DAY)
    assert shares(found) == {"p0": Fraction(3, 5), "p1": Fraction(2, 5)}
    assert found.cycles == (("e0", "e1"),) and found.is_complete


def test_paths_are_multiplied_and_added_up() -> None:
    half, third = Fraction(1, 2), Fraction(1, 3)
    claims = [
        Claim("e1", "e0", half, "register"),
        Claim("e2", "e0", third, "register"),
        Claim("p0", "e1", third, "register"),
        Claim("p0", "e2", half, "register"),
    ]
    found = trace("e0", claims, PARTIES, as_of=DAY)
    assert shares(found) == {"p0": half * third + third * half}
    assert sorted(found.persons[0].paths) == [("p0", "e1", "e0"), ("p0", "e2", "e0")]


def test_a_chain_of_a_thousand_entities_is_followed() -> None:
    line = [f"c{number}" for number in range(1000)]
    claims = [
        Claim(owner, owned, Fraction(1), "register") for owned, owner in zip(line, [*line[1:], "p0"], strict=True)
    ]
    assert shares(trace("c0", claims, PARTIES, as_of=DAY)) == {"p0": Fraction(1)}


@pytest.mark.parametrize("share", [Fraction(1, 4), Fraction(249_999, 1_000_000)])
def test_the_threshold_itself_counts(share: Fraction) -> None:
    claims = [Claim("p0", "e0", share, "register"), Claim("p1", "e0", 1 - share, "register")]
    found = trace("e0", claims, PARTIES, as_of=DAY)
    assert ("p0" in {owner.party.id for owner in found.beneficial}) is (share >= Fraction(1, 4))
