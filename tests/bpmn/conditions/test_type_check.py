"""Conditions against the flag contract."""

from __future__ import annotations

import pytest

from perdure.bpmn.conditions.parser import parse_condition
from perdure.bpmn.conditions.tree import Compare
from perdure.bpmn.conditions.type_check import condition_faults
from perdure.bpmn.model import COMPLETED_COUNT, GIVEN_FLAGS
from perdure.verb_contract import FlagContract

CONTRACTS = (
    FlagContract("orch_outcome", "enum", ("pending", "approved", "rejected")),
    FlagContract("orch_done", "boolean"),
    FlagContract("orch_count", "integer"),
    FlagContract("orch_name", "string"),
)


@pytest.mark.parametrize(
    "text",
    [
        'orch_outcome = "approved" and orch_done = true or orch_count >= -3',
        'orch_name != "x" and orch_outcome in ("pending", "rejected")',
    ],
)
def test_a_condition_that_fits_the_contract_has_no_fault(text: str) -> None:
    assert condition_faults(parse_condition(text), CONTRACTS) == []


@pytest.mark.parametrize(
    ("text", "kind", "fact", "hint"),
    [
        ("orch_don = true", "undeclared", "the flag 'orch_don' is not declared", "Did you mean 'orch_done'?"),
        ("orch_zzz = true", "undeclared", "the flag 'orch_zzz' is not declared", "Declare it under"),
        ('orch_done = "true"', "type", "is true or false and is compared with", "Write orch_done = true"),
        ("orch_outcome = 1", "type", "is an enum and is compared with 1", 'Write orch_outcome = "pending"'),
        ("orch_count = true", "type", "is an integer and is compared with true", "Write orch_count = 1"),
        ("orch_name in (1)", "type", "is text and is compared with 1", "Write orch_name ="),
        ('orch_outcome = "aproved"', "value", '"aproved" is not a value of', 'Did you mean "approved"?'),
        ('not(orch_outcome in ("x"))', "value", '"x" is not a value of', "It has the values pending"),
        ("amount > 5", "foreign", "it reads the variable 'amount'", "Only orch_*"),
    ],
)
def test_a_fault_names_the_flag_and_says_what_to_do(text: str, kind: str, fact: str, hint: str) -> None:
    (fault,) = condition_faults(parse_condition(text), CONTRACTS)
    assert fault.kind == kind
    assert fact in fault.fact
    assert hint in fault.hint


def test_only_integers_are_ordered() -> None:
    kinds = [fault.kind for fault in condition_faults(Compare("orch_name", "<", 3), CONTRACTS)]
    assert kinds == ["type", "order"]


def test_the_given_flags_are_known_only_where_the_caller_says_so() -> None:
    condition = parse_condition(f"{COMPLETED_COUNT} >= 2")
    assert condition_faults(condition, CONTRACTS, GIVEN_FLAGS) == []
    assert [fault.kind for fault in condition_faults(condition, CONTRACTS)] == ["undeclared"]


def test_each_fault_is_reported_once() -> None:
    condition = parse_condition("orch_zzz = 1 or orch_zzz = 1")
    assert len(condition_faults(condition, CONTRACTS)) == 1
