"""The page of the architecture lists every room: those of `.importlinter` and those of the folders, and no other."""

from __future__ import annotations

import configparser
import re
from pathlib import Path

import pytest

from tests.house.tree import PACKAGE, ROOT

PAGE = ROOT / "ARCHITECTURE.md"
LINTER = ROOT / ".importlinter"
ROW = re.compile(r"^\| (\d+) \| `(\w+)` \| ([^|]+) \| ([^|]*)\|$", re.MULTILINE)
NAME = re.compile(r"`(\w+)`")

Floors = list[set[str]]


def floors_of_linter(text: str) -> Floors:
    """Rooms by floor, the highest first, as the import contract has them."""
    contracts = configparser.ConfigParser()
    contracts.read_string(text)
    layers = contracts["importlinter:contract:floors"]["layers"].strip().splitlines()
    return [{room.strip(" ()") for room in line.split("|")} for line in layers]


def floors_of_page(text: str) -> Floors:
    """Rooms by floor, the highest first, as the page has them."""
    floors: dict[int, set[str]] = {}
    for number, room, _, _ in ROW.findall(text):
        floors.setdefault(int(number), set()).add(room)
    assert list(floors) == list(range(1, len(floors) + 1)), "floors are numbered from the top, without gaps"
    return list(floors.values())


def packages_of_page(text: str) -> dict[str, set[str]]:
    """The packages that the page names inside each room."""
    return {room: set(NAME.findall(inside)) for _, room, _, inside in ROW.findall(text)}


def rooms_of(package: Path) -> set[str]:
    """Modules and packages directly inside a package."""
    files = {path.stem for path in package.glob("*.py")} - {"__init__"}
    return files | packages_of(package)


def packages_of(package: Path) -> set[str]:
    return {path.parent.name for path in package.glob("*/__init__.py")}


def test_the_page_has_the_floors_of_the_import_contract() -> None:
    page = floors_of_page(PAGE.read_text(encoding="utf-8"))
    assert page == floors_of_linter(LINTER.read_text(encoding="utf-8"))


def test_the_import_contract_has_the_rooms_of_the_folders() -> None:
    assert set().union(*floors_of_linter(LINTER.read_text(encoding="utf-8"))) == rooms_of(PACKAGE)


def test_the_page_names_the_packages_inside_every_room() -> None:
    page = packages_of_page(PAGE.read_text(encoding="utf-8"))
    assert page == {room: packages_of(PACKAGE / room) for room in rooms_of(PACKAGE)}


@pytest.mark.parametrize("room", ["surfaces", "verbs", "sources"])
def test_a_room_that_the_page_forgets_is_missed(room: str) -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if f"| `{room}` |" not in line]
    assert len(kept) == len(lines) - 1
    assert floors_of_page("\n".join(kept)) != floors_of_linter(LINTER.read_text(encoding="utf-8"))


def test_a_room_that_the_import_contract_invents_is_missed() -> None:
    text = LINTER.read_text(encoding="utf-8")
    invented = text.replace("(kernel)", "(kernel) | (attic)")
    assert set().union(*floors_of_linter(invented)) - rooms_of(PACKAGE) == {"attic"}


def test_a_folder_without_a_floor_is_missed(tmp_path: Path) -> None:
    (tmp_path / "kernel").mkdir()
    (tmp_path / "kernel" / "__init__.py").touch()
    (tmp_path / "attic.py").touch()
    assert rooms_of(tmp_path) - set().union(*floors_of_linter(LINTER.read_text(encoding="utf-8"))) == {"attic"}
