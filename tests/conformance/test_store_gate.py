"""The gate: what is judged at once is judged as each would be by itself."""

from __future__ import annotations

import pytest

from perdure.kernel.ports import Conflict, Unit
from perdure.store.commit_conflicts import Standing, claims_of, judge, passing
from tests.conformance.stores import id_of, lone, message, unit_of

BEHIND = Conflict("version")


def looking(label: str, expected: int) -> Unit:
    """A unit that changes nothing, but only if its aggregate stands where it is expected."""
    unit = unit_of(label, expected)
    unit.records = []
    return unit


BATCHES: list[tuple[list[Unit], dict[str, int], list[Conflict | None]]] = [
    ([unit_of("a"), unit_of("b", 3)], {"b": 3}, [None, None]),
    ([unit_of("a"), unit_of("b", 3)], {"b": 4}, [None, BEHIND]),
    ([unit_of("a"), unit_of("b", 3)], {}, [None, BEHIND]),
    ([unit_of("a"), unit_of("b", 3)], {"a": 1, "b": 3}, [BEHIND, None]),
    ([unit_of("a", 1), unit_of("a", 1, mark="again")], {"a": 1}, [None, BEHIND]),
    ([unit_of("a", 1), unit_of("a", 2)], {"a": 1}, [None, BEHIND]),
    ([unit_of("a", 1), unit_of("a", 2)], {"a": 2}, [BEHIND, None]),
    ([looking("a", 1), unit_of("a", 1)], {"a": 1}, [None, None]),
    ([unit_of("a", 1), looking("a", 1)], {"a": 1}, [None, BEHIND]),
    ([unit_of("a"), lone(message("m"))], {}, [None, None]),
    ([unit_of("a", 1), unit_of("b", idempotency=("key", b""))], {"a": 1}, [None, None]),
]


@pytest.mark.parametrize("place", range(len(BATCHES)))
def test_units_that_claim_their_version_alone_are_judged_as_each_by_itself(place: int) -> None:
    units, stored, verdicts = BATCHES[place]
    claims = claims_of(units)
    versions = {bytes(id_of(label)): version for label, version in stored.items()}
    # One store answers with all versions, the other with those that are not as expected.
    for known in (versions, dict.fromkeys(claims.versions, 0) | versions):
        assert judge(units, claims, Standing(versions={**known})) == verdicts
    assert passing(units, verdicts) == [unit for unit, verdict in zip(units, verdicts, strict=True) if not verdict]
