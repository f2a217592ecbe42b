"""What came of a scenario against what was expected: every expectation can fail, and says how."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from perdure.testing.scenarios.expectation_checks import failures
from perdure.testing.scenarios.scenario import Actual, Expectation, Group

ACTUAL = Actual(
    deploy="accepted", state="completed", ran=["a", "b", "c"], visited=["s", "e"], parked=["u", "w"], incidents=1,
    states={"one": "active"}, flags={"orch_x": 1}, data={"id": "c1"},
)  # fmt: skip
HOLDS = Expectation(
    deploy="accepted", state="completed", states={"one": "active"}, ran=(("a",), ("c", "b")), visited=(("s",), ("e",)),
    parked=("w", "u"), incidents=1, flags={"orch_x": 1}, data={"id": "c1"},
)  # fmt: skip


def test_what_is_as_expected_has_no_failures() -> None:
    assert failures(HOLDS, ACTUAL) == []
    assert failures(None, ACTUAL) == []


@pytest.mark.parametrize(
    "expected",
    [
        {"deploy": "refused"},
        {"state": "failed"},
        {"states": {"one": "completed"}},
        {"states": {"two": "active"}},
        {"ran": (("a",), ("b",))},
        {"ran": (("a",), ("b",), ("c",), ("d",))},
        {"ran": (("b",), ("a",), ("c",))},
        {"ran": (("a", "c"), ("b",))},
        {"ran": ()},
        {"visited": (("e",), ("s",))},
        {"parked": ("u",)},
        {"parked": ()},
        {"incidents": 0},
        {"flags": {"orch_x": True}},
        {"data": {"id": "c2"}},
    ],
    ids=str,
)
def test_each_expectation_can_fail(expected: dict[str, object]) -> None:
    assert len(failures(replace(HOLDS, **expected), ACTUAL)) == 1


@pytest.mark.parametrize(
    ("expected", "holds"), [(("u",), True), (("u", "u", "u"), True), (("u", "u"), False), (("w",), False), ((), False)]
)
def test_one_name_stands_for_all_that_waits_there_and_several_are_counted(expected: Group, holds: bool) -> None:
    waiting = replace(ACTUAL, parked=["u", "u", "u"])
    assert (failures(Expectation(parked=expected), waiting) == []) is holds


def test_any_order_compares_as_multisets() -> None:
    loose = replace(HOLDS, ran=(("c",), ("b",), ("a",)), visited=(("e",), ("s",)), any_order=True)
    assert failures(loose, ACTUAL) == []
    assert len(failures(replace(loose, ran=(("c",), ("b",), ("b",))), ACTUAL)) == 1


def test_a_refusal_nobody_expected_is_a_failure_and_one_expected_needs_its_code() -> None:
    refused = Actual(deploy="refused", state=None, ran=[], visited=[], parked=[], incidents=0, codes=["HOL001"])
    assert len(failures(None, refused)) == 1
    assert failures(Expectation(deploy="refused"), refused) == []
    assert failures(Expectation(deploy="refused", codes=("HOL001",)), refused) == []
    assert len(failures(Expectation(deploy="refused", codes=("HOL001", "HOL002")), refused)) == 1
    assert len(failures(Expectation(deploy="refused", codes=("HOL001",)), ACTUAL)) == 1
