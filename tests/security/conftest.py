"""A house to attack: a real server on each kind of store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.security.attacked_house import AttackedHouse


@pytest.fixture
def attacked_house(tmp_path: Path, store_url: str) -> Iterator[AttackedHouse]:
    """A real server with nothing in its store but keys, closed after the test."""
    house = AttackedHouse(tmp_path, store_url)
    yield house
    house.close()
