"""A model that breaks the contract is refused with the code of what it breaks, wherever it breaks it."""

from __future__ import annotations

from collections import Counter

import pytest

from perdure.bpmn.lint.findings import Finding
from perdure.bpmn.lint.lint import has_errors, lint
from perdure.bpmn.xml import read_model
from perdure.processes.policy_file import load_policies
from tests.bpmn.contract.mutants import BREAKS, MODELS, Mutant, mutants

POLICIES = load_policies(MODELS / "policies.yaml")


def findings(text: str, file: str) -> list[Finding]:
    return lint(read_model(text, file), profile="contract", policies=POLICIES)


def check(mutant: Mutant) -> None:
    found = findings(mutant.text, mutant.file)
    told = [each for each in found if each.code == mutant.code]
    assert told and has_errors(told), (mutant.code, mutant.file, mutant.number, {each.code for each in found})
    assert all(each.line > 1 and each.hint and each.element for each in told), told


@pytest.mark.req("B2")
def test_the_examples_themselves_are_refused_by_nothing() -> None:
    for path in sorted(MODELS.glob("*.bpmn")):
        assert findings(path.read_text(), str(path)) == []


@pytest.mark.req("B2")
def test_each_way_of_breaking_the_contract_is_refused_at_a_place() -> None:
    seen = set()
    for mutant in mutants():
        if (mutant.code, mutant.file) not in seen:
            seen.add((mutant.code, mutant.file))
            check(mutant)
    assert {code for code, _ in seen} == {code for code, _, _ in BREAKS}


@pytest.mark.deep
@pytest.mark.req("B2")
def test_each_of_hundreds_of_mutants_is_refused_with_the_code_of_its_rule() -> None:
    counts = Counter(mutant.code for mutant in mutants())
    assert sum(counts.values()) >= 200
    for mutant in mutants():
        check(mutant)


@pytest.mark.req("B2")
def test_the_strict_reading_refuses_what_came_later() -> None:
    refused = {
        path.name: {each.code for each in lint(read_model(path.read_text()), profile="contract", is_strict=True)}
        for path in sorted(MODELS.glob("*.bpmn"))
    }
    assert "AME042" in refused["loop.bpmn"]
    assert "AME040" in refused["parallel.bpmn"] & refused["boundary-timer.bpmn"] & refused["delivery.bpmn"]
    assert all("AME092" in codes for codes in refused.values())
