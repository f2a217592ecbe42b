"""Sound models that once were not proved."""

from __future__ import annotations

import pytest

from perdure.bpmn.proof import prove
from perdure.bpmn.xml import read_model
from tests.house.tree import ROOT

TRIAL = ROOT / "tests" / "scenarios" / "trial" / "models"


@pytest.mark.req("V10")
@pytest.mark.parametrize("name", ["compensation-loop-each-iteration", "race-start"])
def test_it_is_proved(name: str) -> None:
    file = TRIAL / f"{name}.bpmn"
    assert prove(read_model(file.read_bytes(), file.name).definitions).word == "proved"
