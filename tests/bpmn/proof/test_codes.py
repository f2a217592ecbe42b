"""Each code is found in the process that deserves it, and not in the same one put right."""

from __future__ import annotations

import pytest

from perdure.bpmn.proof import CODES
from tests.bpmn.proof.cases import CASES, Case

CASE = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


@CASE
def test_what_is_wrong_is_found_where_it_is(case: Case) -> None:
    verdict = case.prove(case.wrong)
    found = {(finding.code, finding.element) for finding in verdict.findings}
    assert (case.code, case.element) in found
    assert {code for code, _ in found} == {case.code}, "one fault gives one kind of finding"
    is_error = CODES[case.code][1] == "error" and not case.is_warning
    assert verdict.word == ("refuted" if is_error else "proved")


@CASE
def test_the_same_process_put_right_is_proved(case: Case) -> None:
    verdict = case.prove(case.right)
    assert verdict.word == "proved", [finding.message() for finding in verdict.findings]
    assert not verdict.findings


@CASE
def test_a_finding_says_what_to_do_and_how_it_comes_about(case: Case) -> None:
    for finding in case.prove(case.wrong).findings:
        assert finding.hint
        assert finding.element in finding.elements
        if finding.code not in ("SND003", "SND008", "SND011"):
            assert finding.steps[0].kind == "start"
            assert all(step.sentence() for step in finding.steps)


def test_every_code_has_a_case() -> None:
    assert {case.code for case in CASES.values()} == set(CODES) - {"SND010"}


@CASE
def test_the_same_question_has_the_same_answer(case: Case) -> None:
    first, second = (case.prove(case.wrong) for _ in range(2))
    assert first.findings == second.findings
    assert first.statistics.states == second.statistics.states
