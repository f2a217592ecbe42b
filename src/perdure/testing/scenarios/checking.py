"""Whether a model may be deployed as a scenario asks: the same rules as everywhere."""

from __future__ import annotations

from perdure.bpmn.model import Model
from perdure.testing.scenarios.values import Scenario
from perdure.testing.scenarios.world import Refusal


def refusal_of(model: Model, scenario: Scenario) -> Refusal | None:
    """Why not, or None."""
    return None
