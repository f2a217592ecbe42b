"""The conformance suite of engines on a real Camunda broker: every so many of the cases that it carries.

All of them take twenty minutes; `python -m tests.conformance.camunda_verdicts` plays them for the page.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from perdure.testing.conformance import scenario_cases
from perdure.testing.service_availability import ServiceUnavailable
from tests.conformance.camunda_refusals import camunda_refusals
from tests.conformance.camunda_verdicts import play
from tests.conftest import unavailable
from tests.scenarios.cases import FILES

EVERY = 28
CONTRACT = ("a_start_under_one_key_counts_once", "a_job_that_completes_moves_its_instance_on")
ONCE_WRONG = (
    "compensation-event/last-first", "exclusive-gateway/both-hold-and-only-the-first-is-taken",
    "multi-instance-parallel/subprocess", "event-subprocess/failure-and-retry",
)  # fmt: skip


def part() -> list[str]:
    """Every so many scenarios but for those that are refused."""
    carried = [case.name for case in scenario_cases(FILES) if not camunda_refusals(case)]
    return list(dict.fromkeys([*CONTRACT, *carried[::EVERY], *ONCE_WRONG]))


@pytest.mark.deep
@pytest.mark.timeout(400)
@pytest.mark.req("V13")
def test_a_part_of_the_suite_holds_on_camunda(tmp_path: Path) -> None:
    output = tmp_path / "verdicts.json"
    try:
        play(str(output), *part())
    except ServiceUnavailable as error:
        unavailable(str(error))
    found = json.loads(output.read_text())
    assert [each for each in found if each[1] != "held"] == []
    assert len(found) == len(part()), "nothing is skipped"


def test_what_camunda_does_not_carry_is_known_before_it_is_played() -> None:
    found = {case.name: camunda_refusals(case) for case in scenario_cases(FILES)}
    assert found["call-activity/cancelled"] == ("camunda.call",), "we follow no called process"
    assert found["timer-event/catch-date-in-the-past"] == ()
