"""Every model of the public conformance corpus is read, counts as executable and survives being written."""

from __future__ import annotations

import pytest

from perdure.bpmn.layout import lay_out
from perdure.bpmn.model import Model
from perdure.bpmn.xml import read_model, write_model
from tests.bpmn.xml.fixtures import corpus


@pytest.fixture(scope="module")
def models() -> dict[str, Model]:
    return {path.name: read_model(path.read_bytes(), path.name) for path in corpus()}


def test_every_model_of_the_corpus_is_read_and_executable(models: dict[str, Model]) -> None:
    assert len(models) >= 98
    for model in models.values():
        assert model.definitions.processes
        assert model.definitions.executable() == model.definitions.processes


def test_every_model_of_the_corpus_is_the_same_after_being_written(models: dict[str, Model]) -> None:
    for name, model in models.items():
        again = read_model(write_model(model))
        assert again.definitions == model.definitions, name
        assert again.diagram == (model.diagram or lay_out(model.definitions)), name
