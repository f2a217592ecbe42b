"""Recipes: every path that a recipe names exists, and the list names every recipe."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.house.tree import ROOT, name_of

FOLDER = ROOT / "docs" / "recipes"
RECIPES = sorted(FOLDER.glob("add-*.md"))
NAMED = re.compile(r"`((?:src|tests|docs|dashboard)/[^`\s]*)`")


def lost_paths(text: str) -> list[str]:
    """The paths in backticks that lead nowhere; the part from a `<name>` on is the reader's own."""
    return [path for path in NAMED.findall(text) if not (ROOT / _given(path)).exists()]


def _given(path: str) -> str:
    before, mark, _ = path.partition("<")
    return str(Path(before + "x").parent) if mark else path


@pytest.mark.req("P9")
@pytest.mark.parametrize("recipe", RECIPES, ids=name_of)
def test_every_path_of_a_recipe_exists(recipe: Path) -> None:
    text = recipe.read_text(encoding="utf-8")
    assert NAMED.search(text), "a recipe names the files to touch"
    assert lost_paths(text) == []


@pytest.mark.req("P9")
def test_the_list_of_recipes_is_complete() -> None:
    listed = re.findall(r"\]\((add-[\w-]+\.md)\)", (FOLDER / "README.md").read_text(encoding="utf-8"))
    assert sorted(listed) == [recipe.name for recipe in RECIPES]


@pytest.mark.parametrize("path", ["src/perdure/attic.py", "tests/attic/", "src/attic/<name>.py", "dashboard/attic.ts"])
def test_a_path_that_leads_nowhere_is_found(path: str) -> None:
    assert lost_paths(f"See `{path}` and `src/perdure/errors.py`.") == [path]
