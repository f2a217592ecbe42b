"""What is written reads back as the same model, whatever the model holds."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from perdure.bpmn import model as ir
from perdure.bpmn.layout import lay_out
from perdure.bpmn.model import Model
from perdure.bpmn.xml import read_model, write_model
from tests.bpmn.strategies import models
from tests.bpmn.xml.fixtures import FIXTURES, fixture

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@pytest.mark.req("V10")
@settings(deadline=None, max_examples=60, suppress_health_check=QUIET)
@given(models())
def test_a_model_that_is_written_reads_back_as_the_same(model: Model) -> None:
    text = write_model(model)
    again = read_model(text)
    assert again.definitions == model.definitions
    if model.diagram is not None:
        assert again.diagram == model.diagram
        assert write_model(again) == text


@pytest.mark.req("V10")
@pytest.mark.parametrize("name", FIXTURES)
def test_a_file_that_is_read_and_written_reads_back_as_the_same(name: str) -> None:
    model = fixture(name)
    again = read_model(write_model(model))
    assert again.definitions == model.definitions
    assert again.diagram == (model.diagram or lay_out(model.definitions))


def test_the_files_fill_every_field_of_the_process_model() -> None:
    seen: set[tuple[str, str]] = set()
    for name in FIXTURES:
        _note(fixture(name), seen)
    assert _all_fields() - seen == set()


def _all_fields() -> set[tuple[str, str]]:
    kinds = [each for each in vars(ir).values() if isinstance(each, type) and issubclass(each, msgspec.Struct)]
    concrete = [each for each in kinds if each not in (ir.Element, ir.Activity)]
    return {(each.__name__, field.name) for each in concrete for field in msgspec.structs.fields(each)}


def _note(value: Any, seen: set[tuple[str, str]]) -> None:
    """Notes each field that has a value other than its default."""
    if isinstance(value, msgspec.Struct):
        for field in msgspec.structs.fields(value):
            inner = getattr(value, field.name)
            default = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
            if inner != default:
                seen.add((type(value).__name__, field.name))
            _note(inner, seen)
    elif isinstance(value, tuple | dict):
        for each in value.values() if isinstance(value, dict) else value:
            _note(each, seen)
