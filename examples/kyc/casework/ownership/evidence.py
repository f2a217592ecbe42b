"""Turns what sources say into claims and parties."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from casework.ownership.claims import Claim, Party


def register_claims(shares: dict[str, Any]) -> Iterator[Claim]:
    """What a shareholder register says."""
    source, confidence = shares.get("source", "shareholder-register"), shares.get("confidence", "high")
    for each in shares["holdings"]:
        share = Fraction(str(each["voting_share"])) / 100
        since, until = each.get("since") or "", each.get("until") or ""
        yield Claim(each["holder"]["id"], each["entity"], share, source, confidence, since, until)


def hierarchy_claims(group: dict[str, Any]) -> Iterator[Claim]:
    """GLEIF says who consolidates whom, never how much of it they hold."""
    for node in group["hierarchy"]:
        if node.get("parent"):
            yield Claim(node["parent"], node["lei"], None, "gleif", "medium")


def bloomberg_claims(book: dict[str, Any]) -> Iterator[Claim]:
    """Of what Bloomberg says only direct holdings can be told apart: those of a company in one it is listed above."""
    for company in book["companies"]:
        for each in company["subsidiaries"]:
            if each.get("is_direct", True) and "voting_share" in each:
                share = Fraction(each["voting_share"]) / 100
                yield Claim(company["identifiers"][0], each["identifier"], share, book["source"], book["confidence"])


def parties_of(group: dict[str, Any], shares: dict[str, Any]) -> dict[str, Party]:
    """Everybody who is named, with what ends the search at them."""
    ends = {each["entity"]: each["reason"] for each in shares.get("termini", [])}
    found = {
        node["lei"]: Party(node["lei"], node["name"], "entity", ends.get(node["lei"], ""))
        for node in group["hierarchy"]
    }
    for each in shares["holdings"]:
        holder = each["holder"]
        found[holder["id"]] = Party(holder["id"], holder["name"], holder["kind"], ends.get(holder["id"], ""))
    return found
