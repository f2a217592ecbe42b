"""A model file, read no further than the limits of a model."""

from __future__ import annotations

from pathlib import Path

from perdure.bpmn.model import Model
from perdure.bpmn.xml import read_limits
from perdure.bpmn.xml.reader import read_model


def read_model_file(path: Path) -> Model:
    """The model in a file. OSError when it cannot be read, ModelError when it is none."""
    with path.open("rb") as file:
        return read_model(file.read(read_limits.MAX_BYTES + 1), str(path))
