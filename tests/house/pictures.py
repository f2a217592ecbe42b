"""Draws the models that pages show: `python -m tests.house.pictures` writes every picture again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from perdure.bpmn.svg import Mark, Marks, draw
from perdure.bpmn.xml import read_model
from tests.house.documents import blocks
from tests.house.tree import ROOT

IMAGES = ROOT / "docs" / "images"
EXAMPLES = ROOT / "examples"
DONE = Mark(completed=1, state="completed")
WAITING = {
    "onboard-client": Marks(
        elements={"asked": DONE, "screen": DONE, "decide": Mark(tokens=1, is_waiting=True, state="active")},
        path=("asked", "to_screen", "screen", "to_decide", "decide"),
        is_numbered=False,
    )
}
"""Where an instance stands in the picture that is called as the model and `-waiting`."""


def models() -> Iterator[tuple[str, str]]:
    """The name and text of every model that stands on a page or belongs to an example."""
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for block in blocks(page.read_text(encoding="utf-8")):
            if block.file.endswith(".bpmn"):
                yield Path(block.file).stem, block.body
    for path in sorted(EXAMPLES.rglob("*.bpmn")):
        yield path.stem, path.read_text(encoding="utf-8")


def shown() -> set[str]:
    """The names of pictures that some page shows."""
    pages = [*(ROOT / "docs").rglob("*.md"), *EXAMPLES.rglob("*.md"), ROOT / "README.md"]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    return {name for text in texts for name in re.findall(r"images/([\w-]+)\.svg", text)}


def pictures() -> dict[Path, str]:
    """Every picture of a model that a page shows, as it should be; the first model of a name counts."""
    wanted = shown()
    found: dict[Path, str] = {}
    for name, text in models():
        if name in wanted:
            found.setdefault(IMAGES / f"{name}.svg", draw(read_model(text)))
        if name in WAITING:
            found.setdefault(IMAGES / f"{name}-waiting.svg", draw(read_model(text), WAITING[name]))
    return found


if __name__ == "__main__":
    for path, picture in pictures().items():
        path.write_text(picture, encoding="utf-8")
