"""The scenarios of the elements, and what must be the same however bad the day was."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from perdure.testing.scenarios.scenario import Actual, Scenario
from perdure.testing.scenarios.scenario_loader import find_scenarios, load_scenario

ELEMENTS = Path(__file__).resolve().parent / "elements"
FILES = find_scenarios([ELEMENTS, ELEMENTS.parent / "versions", ELEMENTS.parent / "trial"])
WITH_MESSAGES = [path for path in FILES if "message:" in path.read_text(encoding="utf-8")]


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def scenario_of(path: Path) -> Scenario:
    return load_scenario(path)


def end_of(actual: Actual) -> dict[str, Any]:
    """What must not depend on crashes and duplicates; what ran at once may end in another order after a crash."""
    return {
        "state": actual.state, "states": actual.states, "ran": Counter(actual.ran), "visited": Counter(actual.visited),
        "parked": Counter(actual.parked), "incidents": actual.incidents, "flags": actual.flags, "data": actual.data,
        "deploy": actual.deploy, "codes": actual.codes,
    }  # fmt: skip
