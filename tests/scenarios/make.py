"""Writes the BPMN files of the scenarios from their sketches: python -m tests.scenarios.make"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from perdure.bpmn.xml import write_model
from tests.scenarios.sketch import sketches

FOLDER = Path(__file__).resolve().parent


def written() -> Iterator[tuple[Path, str]]:
    """Every model with the text its file must have."""
    for source in sorted(FOLDER.rglob("models.txt")):
        for name, model in sketches(source.read_text(encoding="utf-8")).items():
            yield source.parent / "models" / f"{name}.bpmn", write_model(model)


if __name__ == "__main__":
    for path, text in written():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
