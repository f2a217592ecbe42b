"""Owners in the end: what ends a search, what is doubted, what is not known and who stands in."""

from __future__ import annotations

from fractions import Fraction

import pytest
from casework.ownership import Claim, Officer, Ownership, Party, trace
from casework.ownership.gaps import Gap, outreach
from casework.ownership.reports import told, warnings

DAY = "2026-01-02"
PARTIES = {
    "client": Party("client", "Client AS"),
    "parent": Party("parent", "Parent AS"),
    "listed": Party("listed", "Listed ASA", "entity", "listed"),
    "ana": Party("ana", "Ana Lund", "person"),
    "bo": Party("bo", "Bo Dahl", "person"),
}
OFFICERS = (Officer("Dag", "director"), Officer("Carl", "chief-executive"), Officer("Eva", "secretary"))


def claim(owner: str, owned: str, share: int | None, source: str = "register", **more: str) -> Claim:
    part = None if share is None else Fraction(share, 100)
    return Claim(owner, owned, part, source, **{"confidence": "high", **more})  # type: ignore[arg-type]


def traced(*claims: Claim, as_of: str = DAY) -> Ownership:
    return trace("client", claims, PARTIES, as_of=as_of, officers=OFFICERS)


def gap_ids(found: Ownership) -> list[str]:
    return [gap.id for gap in found.gaps]


def test_nobody_asks_who_stands_behind_a_listed_company() -> None:
    found = traced(claim("listed", "client", 100), claim("ana", "listed", 90))
    assert [owner.party.id for owner in found.termini] == ["listed"] and not found.persons
    assert found.is_complete and found.covered == 1


def test_what_no_longer_holds_does_not_count() -> None:
    past = claim("bo", "client", 100, until="2020-12-31")
    now = claim("ana", "client", 100, since="2021-01-01")
    assert [owner.party.id for owner in traced(past, now).persons] == ["ana"]
    assert [owner.party.id for owner in traced(past, now, as_of="2020-12-31").persons] == ["bo"]


def test_sources_that_differ_are_both_kept_and_the_surer_one_counts() -> None:
    found = traced(claim("ana", "client", 100), claim("ana", "client", 60, "client", confidence="medium"))
    assert found.persons[0].share == 1
    (anomaly,) = found.anomalies
    assert anomaly.id == "ana>client:conflicting_shares"
    assert [(each.source, each.share) for each in anomaly.claims] == [("register", 1), ("client", Fraction(3, 5))]
    assert "register says 100 % and client says 60 %" in warnings(found)[0]


def test_a_source_that_repeats_another_is_no_conflict() -> None:
    assert not traced(claim("ana", "client", 100), claim("ana", "client", 100, "client")).anomalies


def test_more_than_the_whole_is_reduced_and_flagged() -> None:
    found = traced(claim("ana", "client", 90), claim("bo", "client", 60))
    assert [anomaly.id for anomaly in found.anomalies] == ["*>client:more_than_whole"]
    assert [owner.share for owner in found.persons] == [Fraction(3, 5), Fraction(2, 5)]


def test_owners_who_are_not_known_are_a_gap_that_blocks_when_it_could_hide_somebody() -> None:
    small, large = traced(claim("ana", "client", 80)), traced(claim("ana", "client", 70))
    assert gap_ids(small) == gap_ids(large) == ["*>client:owners_unknown"]
    assert (small.is_complete, large.is_complete) == (True, False)


def test_a_holding_without_a_number_is_a_gap_by_the_name_of_its_edge() -> None:
    found = traced(claim("parent", "client", None, "gleif"))
    assert gap_ids(found) == ["*>client:owners_unknown", "parent>client:share_unknown"]
    assert not found.is_complete


def test_what_only_a_weak_source_says_is_doubted_and_used() -> None:
    found = traced(claim("ana", "client", 100, "agent", confidence="low"))
    assert gap_ids(found) == ["ana>client:low_confidence"]
    assert found.is_complete and found.persons[0].share == 1


def test_the_senior_official_stands_in_when_nobody_owns_enough() -> None:
    persons = {f"p{number}": Party(f"p{number}", f"P{number}", "person") for number in range(5)}
    claims = [claim(id, "client", 20) for id in persons]
    found = trace("client", claims, {**PARTIES, **persons}, as_of=DAY, officers=OFFICERS)
    assert found.official == Officer("Carl", "chief-executive") and found.is_complete
    assert told(found)["official"] == {"name": "Carl", "role": "chief-executive"}
    nobody = trace("client", claims, {**PARTIES, **persons}, as_of=DAY)
    assert gap_ids(nobody) == ["*>client:no_official"] and not nobody.is_complete


def test_nobody_stands_in_while_owners_may_still_be_found() -> None:
    assert traced().official is None and gap_ids(traced()) == ["*>client:owners_unknown"]


@pytest.mark.parametrize("count", [3, 12])
def test_what_to_ask_is_bundled_and_capped(count: int) -> None:
    gaps = [Gap(f"x{n:02}>client:share_unknown", "share_unknown", "client", "?") for n in range(count)]
    grave = Gap("*>client:owners_unknown", "owners_unknown", "client", "?", Fraction(1, 2), is_blocking=True)
    asks = outreach([*gaps, grave])["client"]
    assert asks[0] == grave.id and len(asks) == min(8, count + 1)
