"""`perdure draw` as a user meets it: a file in, an SVG out, or a sentence that says why not."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from perdure.bpmn.model import Bounds, Definitions, Diagram, Model, Process, Scope, Shape, Task, nodes
from perdure.bpmn.svg import draw
from perdure.bpmn.xml import read_model, write_model
from tests.acceptance.commands import Shell
from tests.conftest import unavailable
from tests.house.tree import ROOT

CORPUS = ROOT.parent / "shared" / "corpora" / "betsy" / "models"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    body = Scope(nodes=(Task(id="ask", name="Ask the customer"),))
    definitions = Definitions(id="file", processes=(Process(id="process", body=body),))
    shape = Shape(element="ask", bounds=Bounds(1234, 80, 100, 80))
    model = Model(definitions=definitions, diagram=Diagram(plane="process", shapes=(shape,)))
    (tmp_path / "ask.bpmn").write_text(write_model(model), encoding="utf-8")
    return Shell(tmp_path)


@pytest.mark.req("P6")
def test_a_model_is_drawn_into_a_file_of_its_name(shell: Shell) -> None:
    assert "ask.svg" in shell.run("draw", "ask.bpmn").out
    assert "customer" in (shell.folder / "ask.svg").read_text(encoding="utf-8")
    told = shell.json("draw", "ask.bpmn", "-o", "other.svg")
    assert told["bytes"] == Path(told["file"]).stat().st_size


@pytest.mark.req("P6")
def test_a_picture_on_stdout_stands_there_alone(shell: Shell) -> None:
    picture = shell.run("draw", "ask.bpmn", "-o", "-").out
    assert ET.fromstring(picture).tag == "{http://www.w3.org/2000/svg}svg"
    assert not (shell.folder / "ask.svg").exists()


@pytest.mark.req("P6")
def test_the_diagram_of_the_file_counts_unless_a_fresh_one_is_asked_for(shell: Shell) -> None:
    assert 'x="1234"' in shell.run("draw", "ask.bpmn", "-o", "-").out
    assert 'x="1234"' not in shell.run("draw", "ask.bpmn", "-o", "-", "--fresh").out


@pytest.mark.req("P6")
def test_what_cannot_be_drawn_is_refused_in_a_sentence(shell: Shell) -> None:
    assert "cannot be read" in shell.run("draw", "none.bpmn", code=2).error
    (shell.folder / "broken.bpmn").write_text("<definitions>", encoding="utf-8")
    assert "broken.bpmn:1" in shell.run("draw", "broken.bpmn", code=2).error
    assert "cannot be written" in shell.run("draw", "ask.bpmn", "-o", "no/such/folder.svg", code=2).error


@pytest.mark.req("P4")
def test_every_model_of_the_corpus_is_laid_out_and_drawn() -> None:
    if not CORPUS.is_dir():
        unavailable(f"the corpus of models at {CORPUS}")
    files = sorted(CORPUS.rglob("*.bpmn"))
    assert files
    for file in files:
        definitions = read_model(file.read_bytes(), file.name).definitions
        picture = ET.fromstring(draw(Model(definitions=definitions)))
        drawn = {group.get("data-element") for group in picture.iter("{http://www.w3.org/2000/svg}g")}
        assert {node.id for process in definitions.processes for node in nodes(process.body)} <= drawn, file.name
