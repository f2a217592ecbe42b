"""The files of these tests, and the conformance corpus beside the repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.bpmn.model import Model
from perdure.bpmn.xml import read_model
from perdure.errors import ModelError, Problem
from tests.conftest import unavailable

FOLDER = Path(__file__).parent / "models"
FIXTURES = sorted(path.stem for path in FOLDER.glob("*.bpmn"))
CORPUS = Path(__file__).parents[3].parent / "shared" / "corpora" / "betsy" / "models"

OPENING = '<d:definitions xmlns:d="http://www.omg.org/spec/BPMN/20100524/MODEL" id="file" targetNamespace="urn:x">'
CLOSING = "</d:definitions>"


def fixture(name: str) -> Model:
    path = FOLDER / f"{name}.bpmn"
    return read_model(path.read_bytes(), path.name)


def corpus() -> list[Path]:
    """The models of the conformance corpus; skips loudly where it is not there."""
    if not CORPUS.is_dir():
        unavailable(f"the folder {CORPUS}, so no model of the corpus is read")
    return sorted(CORPUS.glob("*/*.bpmn"))


def in_process(content: str, roots: str = "") -> str:
    """A file with one process."""
    return f'{OPENING}<d:process id="p" isExecutable="true">{content}</d:process>{roots}{CLOSING}'


def problems_of(data: bytes | str, file: str = "m.bpmn") -> list[Problem]:
    """What is wrong with a file that cannot be read."""
    with pytest.raises(ModelError) as caught:
        read_model(data, file)
    assert all(each.file == file and each.line >= 1 and each.column >= 1 for each in caught.value.problems)
    assert "Expected to read model" in caught.value.args[0]
    return caught.value.problems


def codes_of(data: bytes | str) -> list[str]:
    return [each.code for each in problems_of(data)]
