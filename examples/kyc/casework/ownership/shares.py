"""Effective shares: multiplied along paths and added up, to the end of every circle, in exact fractions.

A circle is a geometric series. Within a knot of entities that own each other the shares solve a system of linear
equations; where nobody outside owns any part of the knot there is no solution, and nobody is its owner.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import msgspec

Owners = Mapping[str, Mapping[str, Fraction]]


class Effective(msgspec.Struct, frozen=True):
    """Shares in the target by party, the target itself included; knots are circles, closed ones have no owner."""

    shares: Mapping[str, Fraction]
    knots: tuple[tuple[str, ...], ...]
    closed: tuple[tuple[str, ...], ...]


def effective_shares(target: str, owners: Owners, ends_at: Callable[[str], bool]) -> Effective:
    """What everyone above the target holds of it; nothing is looked up above a party at which it ends."""

    def above(party: str) -> Mapping[str, Fraction]:
        return {} if ends_at(party) and party != target else owners.get(party, {})

    shares: dict[str, Fraction] = {target: Fraction(1)}
    knots: list[tuple[str, ...]] = []
    closed: list[tuple[str, ...]] = []
    for knot in reversed(strongly_connected(target, lambda party: sorted(above(party)))):
        if len(knot) > 1 or knot[0] in above(knot[0]):
            knots.append(knot)
            if not _solve(knot, above, shares):
                closed.append(knot)
                continue
        for party in knot:
            for owner, share in above(party).items():
                if owner not in knot:
                    shares[owner] = shares.get(owner, Fraction(0)) + shares[party] * share
    return Effective(shares, tuple(sorted(knots)), tuple(sorted(closed)))


def _solve(knot: Sequence[str], above: Callable[[str], Mapping[str, Fraction]], shares: dict[str, Fraction]) -> bool:
    """Replace what flows into a knot by what stays in it after all its circles; False when there is no end to them."""
    size = len(knot)
    rows = [
        [Fraction(int(row == column)) - above(knot[column]).get(knot[row], Fraction(0)) for column in range(size)]
        + [shares.get(knot[row], Fraction(0))]
        for row in range(size)
    ]
    for column in range(size):
        pivot = next((row for row in range(column, size) if rows[row][column]), None)
        if pivot is None:
            return False
        rows[column], rows[pivot] = rows[pivot], rows[column]
        first = rows[column][column]
        rows[column] = [value / first for value in rows[column]]
        for row in range(size):
            if row != column and (factor := rows[row][column]):
                rows[row] = [value - factor * own for value, own in zip(rows[row], rows[column], strict=True)]
    for row, party in enumerate(knot):
        shares[party] = rows[row][-1]
    return True


def strongly_connected(start: str, following: Callable[[str], Sequence[str]]) -> list[tuple[str, ...]]:
    """Knots of what can be reached, each sorted, whatever comes after a knot before it (Tarjan, without recursion)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    on_path: list[str] = []
    is_on_path: set[str] = set()
    found: list[tuple[str, ...]] = []
    work: list[tuple[str, int]] = [(start, 0)]
    while work:
        party, position = work.pop()
        if position == 0:
            number[party] = low[party] = len(number)
            on_path.append(party)
            is_on_path.add(party)
        onward = following(party)
        if position and onward[position - 1] in is_on_path:
            low[party] = min(low[party], low[onward[position - 1]])
        fresh = next((at for at in range(position, len(onward)) if onward[at] not in number), None)
        for other in onward[position : len(onward) if fresh is None else fresh]:
            if other in is_on_path:
                low[party] = min(low[party], number[other])
        if fresh is not None:
            work += [(party, fresh + 1), (onward[fresh], 0)]
        elif low[party] == number[party]:
            found.append(_knot(party, on_path, is_on_path))
    return found


def _knot(first: str, on_path: list[str], is_on_path: set[str]) -> tuple[str, ...]:
    members = []
    while True:
        member = on_path.pop()
        is_on_path.discard(member)
        members.append(member)
        if member == first:
            return tuple(sorted(members))
