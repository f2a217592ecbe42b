"""Whether conditions cover every value: over booleans, enums, integers and texts."""

from __future__ import annotations

import pytest

from perdure.bpmn.conditions.parser import parse_condition
from perdure.bpmn.lint.condition_coverage import covers
from perdure.bpmn.lint.timer_literals import timer_fault
from perdure.bpmn.model import TimerKind
from perdure.verb_contract import FlagContract

FLAGS = {
    "orch_state": FlagContract("orch_state", "enum", ("new", "paid", "sent")),
    "orch_done": FlagContract("orch_done", "boolean"),
}


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["orch_done = true", "orch_done = false"], True),
        (["orch_done = true", "not(orch_done = true)"], True),
        (["orch_done = true"], False),
        (['orch_state = "new"', 'orch_state in ("paid", "sent")'], True),
        (['orch_state = "new"', 'orch_state = "paid"'], False),
        (["orch_n < 3", "orch_n = 3", "orch_n > 3"], True),
        (["orch_n < 3", "orch_n > 3"], False),
        (["orch_n <= 3", "orch_n >= 5"], False),
        (['orch_text = "a"', 'orch_text != "a"'], True),
        (['orch_text = "a"', 'orch_text = "b"'], False),
        (["orch_done = true and orch_n > 1", "orch_done = false", "orch_n <= 1"], True),
        (["amount > 3"], None),
        ([" or ".join(f"orch_f{number} = {number}" for number in range(12))], None),
    ],
)
def test_conditions_cover_all_values_some_or_nobody_knows(texts: list[str], expected: bool | None) -> None:
    assert covers([parse_condition(text) for text in texts], FLAGS) is expected


@pytest.mark.req("V21")
@pytest.mark.parametrize(
    ("kind", "text", "is_right"),
    [
        ("duration", "PT2H", True),
        ("duration", "P14D", True),
        ("duration", "P1M", True),
        ("duration", "P1Y2M3DT4H", True),
        ("duration", "P1M1Y", False),
        ("duration", "P5001Y", False),
        ("duration", "2h", False),
        ("date", "2030-01-31T09:00:00Z", True),
        ("date", "2030-01-31T09:00:00+02:00", True),
        ("date", "2031-01-01T00:00:00+01:00[Europe/Berlin]", True),
        ("date", "2031-01-01T00:00:00[Europe/Berlin]", False),
        ("date", "2030-01-31", False),
        ("date", "2030-01-31T09:00:00", False),
        ("date", "2030-02-31T09:00:00Z", False),
        ("cycle", "R3/PT10M", True),
        ("cycle", "R/PT1H", True),
        ("cycle", "R2/2030-01-31T09:00:00Z/P1D", True),
        ("cycle", "R2/tomorrow/P1D", False),
        ("cycle", "R/PT0S", False),
        ("cycle", "R-1/PT1H", True),
        ("cycle", "R-2/PT1H", False),
        ("cycle", "R/P1M", True),
        ("cycle", "R3/P1Y", True),
        ("cycle", "R/P0M", False),
        ("cycle", "R/2031-01-01T00:00:00+01:00[Europe/Berlin]/P1M", True),
        ("cycle", "0 9 * * MON-FRI", True),
        ("cycle", "0 0 9 * * *", True),
        ("cycle", "R0/PT1H", False),
        ("cycle", "0 0 31 2 *", False),
        *(("cycle", f"@{word}", True) for word in ("hourly", "daily", "midnight", "weekly", "monthly")),
        ("cycle", "@yearly", True),
        ("cycle", "@annually", True),
        ("cycle", "@sometimes", False),
        ("cycle", "PT1H", False),
    ],
)
def test_a_timer_literal_is_a_time_or_says_why_not(kind: TimerKind, text: str, is_right: bool) -> None:
    assert (timer_fault(kind, text) == "") is is_right


@pytest.mark.parametrize(
    ("text", "says"), [("2030-01-31", "no time: write"), ("2030-01-31T09:00:00", "no offset: add Z"), ("noon", "e.g.")]
)
def test_a_date_that_could_mean_several_moments_says_what_is_missing(text: str, says: str) -> None:
    assert says in timer_fault("date", text)
