"""Models of the element scenarios: drawn from their sketches."""

from __future__ import annotations

from perdure.bpmn.xml import read_model
from tests.scenarios.make import written


def test_the_models_on_disk_are_those_of_their_sketches() -> None:
    for path, text in written():
        stored = read_model(path.read_bytes(), path.name).definitions
        assert stored == read_model(text, path.name).definitions, f"{path.name}: run python -m tests.scenarios.make"
