"""Sound models that once were not proved."""

from __future__ import annotations

import pytest

from perdure.bpmn.proof import prove
from perdure.bpmn.xml import read_model
from tests.house.tree import ROOT

SCENARIOS = ROOT / "tests" / "scenarios"
MODELS = (
    "trial/models/compensation-loop-each-iteration", "trial/models/race-start",
    "elements/escalation-event/models/escalation-passed-on",
    "elements/escalation-event/models/escalation-passed-on-from-inside",
)  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_it_is_proved(name: str) -> None:
    file = SCENARIOS / f"{name}.bpmn"
    assert prove(read_model(file.read_bytes(), file.name).definitions).word == "proved"
