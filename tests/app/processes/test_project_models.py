"""Files of models are sent so that what is called is there before what calls it."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

from perdure.app.processes.project_models import called_first
from perdure.bpmn.model import CallActivity, Definitions, Model, Process, Scope
from perdure.bpmn.xml import write_model


def file_of(folder: Path, name: str, *calls: str) -> Path:
    nodes = tuple(CallActivity(id=f"call-{each}", process=each) for each in calls)
    definitions = Definitions(id=f"{name}-file", processes=(Process(id=name, body=Scope(nodes=nodes)),))
    path = folder / f"{name}.bpmn"
    path.write_text(write_model(Model(definitions=definitions)), encoding="utf-8")
    return path


def test_what_is_called_comes_first_whatever_the_order_of_names(tmp_path: Path) -> None:
    a, b, c = file_of(tmp_path, "a", "b", "far"), file_of(tmp_path, "b", "c", "b"), file_of(tmp_path, "c")
    for given in permutations((a, b, c)):
        assert called_first(given) == [c, b, a]


def test_files_that_call_each_other_or_cannot_be_read_stay_where_they_are(tmp_path: Path) -> None:
    one, two = file_of(tmp_path, "one", "two"), file_of(tmp_path, "two", "one")
    broken = tmp_path / "broken.bpmn"
    broken.write_text("<nothing", encoding="utf-8")
    assert called_first([broken, one, two]) == [broken, two, one]
    assert called_first([tmp_path / "missing.bpmn"]) == [tmp_path / "missing.bpmn"]
